from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from whilly.adapters import agents
from whilly.adapters.codex.activity import describe_item
from whilly.adapters.codex.reader import CodexSessionReader
from whilly.adapters.codex.verdict import find_reset, judge_error
from whilly.adapters.command.descriptor import load_descriptor
from whilly.domain.attempt import Outcome, Usage
from whilly.domain.session import Exit, Prior

DESCRIPTOR = load_descriptor(Path(agents.__file__).parent / "codex" / "agent.toml")
BEGAN = datetime(2026, 3, 1, 9, 30).astimezone()
RESET = "You've hit your usage limit. Visit https://example.invalid or try again"


def read(*events: dict[str, Any]) -> CodexSessionReader:
    reader = CodexSessionReader(DESCRIPTOR, Prior())
    for event in events:
        reader.feed(json.dumps(event).encode())
    return reader


def item(kind: str, name: str = "item_1", **fields: object) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"id": name, "type": kind, **fields}}


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ("unexpected status 401 Unauthorized: no", Outcome.AUTH_FAILED),
        ("unexpected status 403 Forbidden: no", Outcome.AUTH_FAILED),
        ("unexpected status 402 Payment Required: no", Outcome.AUTH_FAILED),
        ("unexpected status 529 <unknown status code>: Overloaded", Outcome.UNAVAILABLE),
        ("unexpected status 404 Not Found: no such model", Outcome.CRASHED),
        ("exceeded retry limit, last status: 503 Service Unavailable", Outcome.UNAVAILABLE),
        ("Connection failed: error sending request", Outcome.UNAVAILABLE),
        (f"{RESET} later.", Outcome.LIMITED),
        ("the file says: You've hit your usage limit", Outcome.CRASHED),
    ],
)
def test_an_error_is_judged_by_its_text(words: str, outcome: Outcome) -> None:
    assert judge_error(words) is outcome


@pytest.mark.parametrize(
    ("words", "reset"),
    [
        ("at 10:20 PM.", BEGAN.replace(hour=22, minute=20)),
        ("at 9:29 AM.", BEGAN.replace(minute=29)),
        ("at 4:45 AM.", BEGAN.replace(hour=4, minute=45) + timedelta(days=1)),
        ("at 12:05 AM.", BEGAN.replace(hour=0, minute=5) + timedelta(days=1)),
        ("at Mar 4th, 2026 4:40 AM.", datetime(2026, 3, 4, 4, 40).astimezone()),
        ("at Dec 21st, 2026 12:00 PM.", datetime(2026, 12, 21, 12).astimezone()),
        ("at Feb 31st, 2026 12:00 PM.", None),
        ("at 25:99 PM.", None),
        ("later.", None),
    ],
)
def test_a_reset_is_a_local_time(words: str, reset: datetime | None) -> None:
    assert find_reset(f"{RESET} {words}", BEGAN) == reset


def test_a_time_of_day_means_nothing_without_a_day() -> None:
    assert find_reset(f"{RESET} at 10:20 PM.", None) is None


def test_words_that_the_agent_reads_or_says_are_no_events() -> None:
    words = f"{RESET} at 10:20 PM. unexpected status 401 Unauthorized"
    reader = read(
        item("command_execution", command="cat log", aggregated_output=words, exit_code=1, status="failed"),
        item("agent_message", "item_2", text=words),
        item("error", "item_3", message=words),
        {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 2}},
    )
    report = reader.report(Exit(0))
    assert (report.outcome, reader.fatal(), report.retry_at) == (Outcome.COMPLETED, "", None)


def test_a_login_that_is_refused_twice_is_not_waited_for() -> None:
    refusal = {"type": "error", "message": "Reconnecting... 1/5 (unexpected status 401 Unauthorized: no)"}
    assert read(refusal).fatal() == ""
    assert "codex login" in read(refusal, refusal).fatal()
    assert read(refusal, refusal).report(Exit(None, 15, "stopped")).outcome is Outcome.AUTH_FAILED
    assert read(refusal, item("agent_message", text="it works again"), refusal).fatal() == ""


def test_a_turn_that_fails_after_work_has_an_unknown_cost() -> None:
    failed = {"type": "turn.failed", "error": {"message": "unexpected status 529 <unknown>: Overloaded"}}
    assert read(item("agent_message", text="so far"), failed).report(Exit(1)).usage is None
    assert read(failed).report(Exit(1)).usage == Usage(cost_usd=read(failed).report(Exit(1)).usage.cost_usd)  # type: ignore[union-attr]  # it is one


def test_cached_tokens_stand_apart_from_the_others() -> None:
    usage = {"input_tokens": 1000, "cached_input_tokens": 700, "cache_write_input_tokens": 100, "output_tokens": 5}
    report = read({"type": "turn.completed", "usage": usage}).report(Exit(0))
    assert report.usage == Usage(None, 200, 5, 700, 100, 1)


def test_an_item_is_told_once_when_it_begins() -> None:
    reader = CodexSessionReader(DESCRIPTOR, Prior())
    begun = {
        "type": "item.started",
        "item": {"id": "i", "type": "command_execution", "command": "/bin/bash -lc 'make'"},
    }
    ended = {"type": "item.completed", "item": begun["item"]}
    told = [activity.text for event in (begun, ended) for activity in reader.feed(json.dumps(event).encode())]
    assert told == ["$ make"]


@pytest.mark.parametrize(
    ("described", "lines"),
    [
        ({"type": "command_execution", "command": "/bin/bash -lc \"git add -A && git commit -qm 'x'\""}, None),
        ({"type": "command_execution", "command": "ls"}, ["$ ls"]),
        (
            {
                "type": "file_change",
                "changes": [{"path": "/w/a.py", "kind": "add"}, {"path": "/x/b", "kind": "update"}],
            },
            ["write a.py", "edit /x/b"],
        ),
        ({"type": "web_search", "query": "how"}, ["search the web: how"]),
        ({"type": "mcp_tool_call", "tool": "find"}, ["call find"]),
        ({"type": "reasoning", "text": "hm"}, []),
    ],
)
def test_items_are_described_in_a_line(described: dict[str, Any], lines: list[str] | None) -> None:
    assert describe_item(described, "/w") == (["$ git add -A && git commit -qm 'x'"] if lines is None else lines)
