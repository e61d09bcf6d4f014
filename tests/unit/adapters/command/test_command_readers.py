from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from whilly.adapters.command.descriptor import AgentDescriptor
from whilly.adapters.command.jsonl import JsonlSessionReader
from whilly.adapters.command.text import MAX_MESSAGE, TextSessionReader
from whilly.domain.attempt import Outcome, Usage
from whilly.domain.session import Exit, claims_completion

MARKER = "<promise>COMPLETE</promise>"


def text_reader(cost: str = "unknown") -> TextSessionReader:
    return TextSessionReader(AgentDescriptor.model_validate({"name": "x", "argv": ["x"], "cost": cost}))


def jsonl_reader(cost: str = "reported") -> JsonlSessionReader:
    return JsonlSessionReader(AgentDescriptor.model_validate({"name": "x", "argv": ["x"], "cost": cost}))


def test_all_text_is_the_final_message() -> None:
    reader = text_reader()
    for line in (b"one\n", b"\n", b"two \xff\n", MARKER.encode()):
        reader.feed(line)
    assert reader.report(Exit(0)).final_message == f"one\n\ntwo \ufffd\n{MARKER}"


def test_of_much_text_the_end_is_kept() -> None:
    reader = text_reader()
    for number in range(30_000):
        reader.feed(f"line {number}\n".encode())
    reader.feed(b"y" * 200_000 + b"\n")
    reader.feed(MARKER.encode() + b"\n")
    message = reader.report(Exit(0)).final_message
    assert len(message) == MAX_MESSAGE
    assert claims_completion(message)
    assert sum(len(line) for line in reader._lines) <= 2 * MAX_MESSAGE


def test_the_exit_code_decides_about_text() -> None:
    reader = text_reader()
    reader.feed(MARKER.encode())
    assert reader.report(Exit(0)).outcome is Outcome.COMPLETED
    assert reader.report(Exit(2, stderr_tail="usage: x\nno such option\n")).reason == (
        "x: it ended with exit code 2: no such option"
    )


@pytest.mark.parametrize(("cost", "usage"), [("unknown", None), ("free", Usage(cost_usd=Decimal(0)))])
def test_text_has_no_cost_but_the_one_of_the_settings(cost: str, usage: Usage | None) -> None:
    assert text_reader(cost).report(Exit(0)).usage == usage
    assert text_reader(cost).report(Exit(1)).usage == usage


def test_lines_of_text_show_as_activity_without_control_characters() -> None:
    assert [activity.text for activity in text_reader().feed(b"\x1b[1mbuild\x1b[0m\tok\r\n")] == ["[1mbuild [0m ok"]
    assert text_reader().feed(b"  \n") == []


def test_a_result_line_says_everything() -> None:
    reader = jsonl_reader()
    usage = {"input_tokens": 1, "output_tokens": 2, "cache_read_tokens": 3, "cache_write_tokens": 4, "turns": 5}
    event = {"type": "result", "message": f"ok {MARKER}", "session": "s", "cost_usd": 0.123, "usage": usage}
    reader.feed(json.dumps(event).encode())
    report = reader.report(Exit(0))
    assert (report.outcome, report.session, report.final_message) == (Outcome.COMPLETED, "s", f"ok {MARKER}")
    assert report.usage == Usage(Decimal("0.123"), 1, 2, 3, 4, 5)


def test_a_result_may_say_that_the_session_failed() -> None:
    reader = jsonl_reader()
    event = {"type": "result", "outcome": "limited", "reason": "full", "retry_at": "2030-01-01T01:00:00+01:00"}
    reader.feed(json.dumps(event).encode())
    report = reader.report(Exit(1))
    assert (report.outcome, report.reason) == (Outcome.LIMITED, "x: full")
    assert report.retry_at == datetime(2030, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("outcome", ["cancelled", "done", "conflict"])
def test_an_outcome_that_is_not_the_clis_to_give_is_a_crash(outcome: str) -> None:
    reader = jsonl_reader()
    reader.feed(json.dumps({"type": "result", "outcome": outcome}).encode())
    assert reader.report(Exit(0)).outcome is Outcome.CRASHED


def test_no_result_line_is_no_completion() -> None:
    assert jsonl_reader().report(Exit(0)).outcome is Outcome.CRASHED


@pytest.mark.parametrize(("cost", "known"), [("reported", None), ("unknown", None), ("free", Decimal(0))])
def test_a_cost_that_is_not_said_is_unknown_unless_all_is_free(cost: str, known: Decimal | None) -> None:
    usage = jsonl_reader(cost).report(Exit(1)).usage
    assert usage is not None
    assert usage.cost_usd == known
