"""Gemini CLI on a scripted model."""

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

BEGINNING = 'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"I"}]},"index":0}]}\n\n'


@final
class GeminiRig(Rig):
    """Speaks Google's generateContent."""

    name = "gemini"
    model = "gemini-2.5-pro"

    @override
    def settle(self, home: Path, url: str) -> Mapping[str, str]:
        return {"GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": url}

    @override
    def confine(self, url: str, key: str) -> Mapping[str, str]:
        return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": key}

    @override
    def subscribe(self, variables: Mapping[str, str]) -> Mapping[str, str]:
        return variables

    @override
    def limit_usage(self, resets_at: datetime) -> Answer:
        quota = {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
        }
        words = f"You exceeded your current quota; it is full again at {resets_at:%H:%M}."
        error = {"code": 429, "message": words, "status": "RESOURCE_EXHAUSTED", "details": [quota]}
        return Answer(429, body=json.dumps({"error": error}))

    @override
    def stall(self) -> Answer:
        return Answer(headers={"content-type": "text/event-stream"}, body=BEGINNING, stalls=True)

    @override
    def write(self, path: str, content: str) -> Turn:
        return call("write_file", file_path=path, content=content)

    @override
    def shell(self, command: str) -> Turn:
        return call("run_shell_command", command=command, description="scripted")
