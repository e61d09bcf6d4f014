"""OpenCode on a scripted model."""

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

PRICE = {"input": 3, "output": 15}
"""US dollars for a million tokens."""

GATEWAYS = """
[agents.opencode.gateways]
scripted = { api = "openai", url_env = "SCRIPTED_BASE_URL", key_env = "SCRIPTED_API_KEY" }
"""
"""The settings of a user who has a provider of their own and contains OpenCode."""

BEGINNING = 'data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"I"}}]}\n\n'


@final
class OpencodeRig(Rig):
    """Speaks chat completions."""

    name = "opencode"
    model = "scripted/scripted"

    @override
    def settle(self, home: Path, url: str) -> Mapping[str, str]:
        folders = {f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
        limit = {"context": 200_000, "output": 8192}
        model = {"name": "Scripted", "tool_call": True, "cost": PRICE, "limit": limit}
        provider = {
            "npm": "@ai-sdk/openai-compatible",  # built in: nothing is loaded
            "name": "Scripted",
            "options": {"baseURL": f"{url}/v1", "apiKey": "test-key"},
            "models": {"scripted": model},
        }
        config = {"provider": {"scripted": provider}, "small_model": self.model}
        folder = home / "config" / "opencode"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "opencode.json").write_text(json.dumps(config), encoding="utf-8")
        return {**folders, "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_API_KEY": "test-key"}

    @override
    def confine(self, url: str, key: str) -> Mapping[str, str]:
        return {"SCRIPTED_BASE_URL": f"{url}/v1", "SCRIPTED_API_KEY": key}

    @override
    def subscribe(self, variables: Mapping[str, str]) -> Mapping[str, str]:
        return variables

    @override
    def limit_usage(self, resets_at: datetime) -> Answer:
        error = {"type": "usage_limit_reached", "resets_at": int(resets_at.timestamp()), "message": "limit reached"}
        return Answer(429, body=json.dumps({"error": error}))

    @override
    def stall(self) -> Answer:
        return Answer(headers={"content-type": "text/event-stream"}, body=BEGINNING, stalls=True)

    @override
    def write(self, path: str, content: str) -> Turn:
        return call("write", filePath=path, content=content)

    @override
    def shell(self, command: str) -> Turn:
        return call("bash", command=command, description="scripted")
