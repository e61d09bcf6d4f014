"""Gemini CLI on a scripted model."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.testing.models.script import call
from whilly.testing.rigs.rig import Rig

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from whilly.testing.models.script import Turn


@final
class GeminiRig(Rig):
    """Speaks Google's generateContent."""

    name = "gemini"
    model = "gemini-2.5-pro"

    @override
    def settle(self, home: Path, url: str) -> Mapping[str, str]:
        return {"GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": url}

    @override
    def write(self, path: str, content: str) -> Turn:
        return call("write_file", file_path=path, content=content)

    @override
    def shell(self, command: str) -> Turn:
        return call("run_shell_command", command=command, description="scripted")
