"""Claude Code on a scripted model."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.testing.models import script
from whilly.testing.models.canned import STALL, Answer, limit_usage
from whilly.testing.rigs.rig import Rig

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
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
    def confine(self, url: str, key: str) -> Mapping[str, str]:
        return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": key}

    @override
    def subscribe(self, variables: Mapping[str, str]) -> Mapping[str, str]:
        token = {"CLAUDE_CODE_OAUTH_TOKEN": "test-token"}
        return {name: value for name, value in variables.items() if name != "ANTHROPIC_API_KEY"} | token

    @override
    def limit_usage(self, resets_at: datetime) -> Answer:
        return limit_usage(resets_at)

    @override
    def stall(self) -> Answer:
        return STALL

    @override
    def write(self, path: str, content: str) -> Turn:
        return script.write(path, content)

    @override
    def shell(self, command: str) -> Turn:
        return script.bash(command)
