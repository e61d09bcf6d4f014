"""Codex on a scripted model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.testing.models.canned import Answer
from whilly.testing.models.script import call
from whilly.testing.rigs.rig import Rig

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from whilly.testing.models.script import Turn

CONFIG = """\
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "Scripted"
base_url = "{url}/v1"
env_key = "CODEX_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
stream_idle_timeout_ms = 600000

[analytics]
enabled = false
"""
"""A provider of the user's own: the built-in one speaks over a web socket, and its settings cannot be changed."""

BEGINNING = 'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1"}}\n\n'


@final
class CodexRig(Rig):
    """Speaks OpenAI's responses."""

    name = "codex"
    model = "gpt-5.5"

    @override
    def settle(self, home: Path, url: str) -> Mapping[str, str]:
        folder = home / ".codex"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(CONFIG.format(url=url), encoding="utf-8")
        return {"CODEX_HOME": str(folder), "CODEX_API_KEY": "test-key"}

    @override
    def confine(self, url: str, key: str) -> Mapping[str, str]:
        return {"OPENAI_BASE_URL": f"{url}/v1", "CODEX_API_KEY": key}

    @override
    def subscribe(self, variables: Mapping[str, str]) -> Mapping[str, str]:
        return variables

    @override
    def limit_usage(self, resets_at: datetime) -> Answer:
        error = {"type": "usage_limit_reached", "plan_type": "plus", "resets_at": int(resets_at.timestamp())}
        return Answer(429, body=json.dumps({"error": {**error, "message": "The usage limit has been reached"}}))

    @override
    def stall(self) -> Answer:
        return Answer(headers={"content-type": "text/event-stream"}, body=BEGINNING, stalls=True)

    @override
    def write(self, path: str, content: str) -> Turn:
        # A model's own patch tool cannot be scripted; the shell command of that name is taken for it.
        lines = "".join(f"+{line}\n" for line in content.splitlines())
        patch = f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n"
        return self.shell(f"apply_patch <<'EOF'\n{patch}EOF\n")

    @override
    def shell(self, command: str) -> Turn:
        return call("exec_command", cmd=command)
