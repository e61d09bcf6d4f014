from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from whilly.adapters import agents
from whilly.adapters.command.descriptor import load_descriptor
from whilly.adapters.gemini.reader import GeminiSessionReader, describe_tool
from whilly.adapters.gemini.verdict import find_reset, find_status, judge_error
from whilly.domain.attempt import Outcome, Usage
from whilly.domain.session import Exit

DESCRIPTOR = load_descriptor(Path(agents.__file__).parent / "gemini" / "agent.toml")
AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def say(*pieces: str) -> list[dict[str, Any]]:
    return [{"type": "message", "role": "assistant", "content": piece, "delta": True} for piece in pieces]


def read(*events: dict[str, Any]) -> GeminiSessionReader:
    reader = GeminiSessionReader(DESCRIPTOR)
    for event in events:
        reader.feed(json.dumps(event).encode())
    return reader


def test_the_final_message_is_what_was_said_after_the_last_tool() -> None:
    call = {"type": "tool_use", "tool_name": "read_file", "parameters": {"file_path": "a"}}
    reader = read(*say("I look."), call, {"type": "tool_result", "status": "success"}, *say("Do", "ne <pro", "mise>"))
    assert reader.report(Exit(0)).final_message == "Done <promise>"


@pytest.mark.parametrize(
    ("kind", "words", "code", "outcome"),
    [
        ("unknown", '[API Error: {"error":{"code":503,"status":"UNAVAILABLE"}}]', 247, Outcome.UNAVAILABLE),
        ("unknown", "[API Error: overloaded]", 17, Outcome.UNAVAILABLE),
        ("unknown", "[API Error: fetch failed]", 1, Outcome.UNAVAILABLE),
        ("unknown", '[API Error: {"error":{"code":404,"message":"no such model"}}]', 148, Outcome.CRASHED),
        ("unknown", "[API Error: API key not valid.]", 144, Outcome.AUTH_FAILED),
        ("FatalAuthenticationError", "no", 1, Outcome.AUTH_FAILED),
        ("FatalCancellationError", "no", 130, Outcome.INTERRUPTED),
        ("FatalInputError", "the file says: You have exhausted your daily quota on this model", 42, Outcome.CRASHED),
    ],
)
def test_an_error_is_judged_by_its_type_status_and_text(kind: str, words: str, code: int, outcome: Outcome) -> None:
    assert judge_error({"type": kind, "message": words}, code) is outcome


@pytest.mark.parametrize(
    ("code", "status"), [(145, 401), (144, 400), (173, 429), (247, 503), (148, 404), (17, 529), (1, 0)]
)
def test_an_exit_code_holds_a_status(code: int, status: int) -> None:
    assert find_status("", code) == status


@pytest.mark.parametrize(
    ("words", "span"),
    [
        ("Your quota will reset after 3h25m10s.", timedelta(hours=3, minutes=25, seconds=10)),
        ("Your quota will reset after 1d.", timedelta(days=1)),
        ("Please wait.", None),
    ],
)
def test_a_reset_is_counted_from_when_it_was_said(words: str, span: timedelta | None) -> None:
    assert find_reset(words, "2026-03-01T09:30:00.000Z") == (AT + span if span else None)
    assert find_reset(words, "") is None


def test_thoughts_count_as_output_and_cached_tokens_stand_apart() -> None:
    stats = {"total_tokens": 1500, "input_tokens": 1000, "output_tokens": 100, "cached": 600}
    report = read(*say("hi"), {"type": "result", "status": "success", "stats": stats}).report(Exit(0))
    assert report.usage == Usage(None, 400, 500, 600, turns=1)


def test_words_of_the_agent_are_no_events() -> None:
    result = {"type": "result", "status": "success", "stats": {"total_tokens": 3, "input_tokens": 2}}
    output = {
        "type": "tool_result",
        "status": "error",
        "output": "[API Error: exhausted your daily quota] Loop detected",
    }
    report = read(output, *say("Loop detected"), result).report(Exit(0))
    assert report.outcome is Outcome.COMPLETED


@pytest.mark.parametrize(
    ("name", "parameters", "line"),
    [
        ("run_shell_command", {"command": "make test"}, "$ make test"),
        ("write_file", {"file_path": "a.py"}, "write a.py"),
        ("unheard_of", {}, "unheard_of"),
        ("", None, "tool"),
    ],
)
def test_tools_are_described_in_a_line(name: str, parameters: object, line: str) -> None:
    assert describe_tool(name, parameters) == line
