"""What a scripted model says, turn by turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

INPUT_TOKENS = 1000
OUTPUT_TOKENS = 50
"""What every turn uses unless it says otherwise: $0.00375 at the list price of claude-sonnet-4-5."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model, in the words of the server's fixture format."""

    response: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Script:
    """The answers for prompts that contain `route`.

    Attributes:
        route: a substring of the last thing that the user said; empty matches everything.
        turns: answer number n is given to a request that holds n answers already, so that retries, resumed sessions
            and parallel agents all get theirs.
        start: the number of the first turn here, where a resumed session goes on with another prompt.
        then: the answer to every later request; None lets it fail.
        once: instead of `turns`, before all else, for the first request only: a passing failure.
    """

    route: str
    turns: tuple[Turn, ...] = ()
    start: int = 0
    then: Turn | None = None
    once: Turn | None = None


def say(text: str, **usage: int) -> Turn:
    """The model says this and ends its turn."""
    return Turn({"content": text, "usage": _usage(usage)})


def call(name: str, **arguments: object) -> Turn:
    """The model calls a tool of the agent."""
    return Turn({"toolCalls": [{"name": name, "arguments": arguments}], "usage": _usage({})})


def write(path: str, content: str) -> Turn:
    """The model writes a file by Claude Code's tool `Write`; `path` may be relative to the workspace."""
    return call("Write", file_path=path, content=content)


def read(path: str) -> Turn:
    """The model reads a file by Claude Code's tool `Read`, as it has to before it edits or overwrites it."""
    return call("Read", file_path=path)


def edit(path: str, old: str, new: str) -> Turn:
    """The model replaces text by Claude Code's tool `Edit`."""
    return call("Edit", file_path=path, old_string=old, new_string=new)


def bash(command: str) -> Turn:
    """The model runs a shell command by Claude Code's tool `Bash`; long literal sleeps are refused there."""
    return call("Bash", command=command, description="scripted")


def fail(status: int, kind: str = "api_error", message: str = "scripted failure", retry_after: int = 1) -> Turn:
    """The request fails with this HTTP status: 401, 429, 529, …; `retry_after` is in seconds, for 429."""
    return Turn({"error": {"message": message, "type": kind}, "status": status, "retryAfter": retry_after})


def hang() -> Turn:
    """The model answers after ten minutes."""
    return Turn({"content": "too late"}, {"streamingProfile": {"ttft": 600_000, "tps": 10}})


def render_fixtures(scripts: tuple[Script, ...]) -> dict[str, Any]:
    """The scripts as the server's fixture file; the first that matches a request answers it."""
    first = [_fixture(script, script.once, {"sequenceIndex": 0}) for script in scripts if script.once]
    turns = [
        _fixture(script, turn, {"turnIndex": number})
        for script in scripts
        for number, turn in enumerate(script.turns, start=script.start)
    ]
    last = [_fixture(script, script.then, {}) for script in scripts if script.then]
    return {"fixtures": [*first, *turns, *last]}


def _fixture(script: Script, turn: Turn, when: Mapping[str, Any]) -> dict[str, Any]:
    route = {"userMessage": script.route} if script.route else {}
    return {"match": {**route, **when}, "response": dict(turn.response), **turn.options}


def _usage(given: Mapping[str, int]) -> dict[str, int]:
    """The tokens in the words of every provider; the server passes on those of the one that is asked."""
    read, said = given.get("input_tokens", INPUT_TOKENS), given.get("output_tokens", OUTPUT_TOKENS)
    chat = {"prompt_tokens": read, "completion_tokens": said, "total_tokens": read + said}
    google = {"promptTokenCount": read, "candidatesTokenCount": said, "totalTokenCount": read + said}
    return {"input_tokens": read, "output_tokens": said, **chat, **google, **given}
