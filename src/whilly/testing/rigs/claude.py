"""Claude Code on a scripted model."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.testing.models import script
from whilly.testing.rigs.rig import Rig

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from whilly.testing.models.script import Turn


@final
class ClaudeRig(Rig):
    """Speaks Anthropic's messages."""

    name = "claude"
    model = "claude-sonnet-4-5"

    @override
    def settle(self, home: Path, url: str) -> Mapping[str, str]:
        return {"CLAUDE_CONFIG_DIR": str(home / ".claude"), "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "test-key"}

    @override
    def write(self, path: str, content: str) -> Turn:
        return script.write(path, content)

    @override
    def shell(self, command: str) -> Turn:
        return script.bash(command)
