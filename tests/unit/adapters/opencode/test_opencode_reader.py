from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from whilly.adapters import agents
from whilly.adapters.command.descriptor import load_descriptor
from whilly.adapters.opencode.reader import OpencodeSessionReader
from whilly.adapters.opencode.verdict import find_reset, judge_error
from whilly.domain.attempt import Outcome, Usage
from whilly.domain.session import Exit

DESCRIPTOR = load_descriptor(Path(agents.__file__).parent / "opencode" / "agent.toml")
START = {"type": "step_start", "part": {}}


def finish(reason: str = "stop", cost: float = 0.5, **tokens: object) -> dict[str, Any]:
    return {"type": "step_finish", "part": {"reason": reason, "cost": cost, "tokens": {"input": 10, **tokens}}}


def text(words: str, message: str = "m1") -> dict[str, Any]:
    return {"type": "text", "part": {"text": words, "messageID": message}}


def read(*events: dict[str, Any], cost: str = "reported") -> OpencodeSessionReader:
    reader = OpencodeSessionReader(DESCRIPTOR.model_copy(update={"cost": cost}))
    for event in events:
        reader.feed(json.dumps(event).encode())
    return reader


def fail(status: int = 0, body: object = None, headers: dict[str, str] | None = None, **data: object) -> dict[str, Any]:
    known = {"statusCode": status, "responseBody": json.dumps(body), "responseHeaders": headers or {}}
    return {"name": "APIError", "data": {**known, **data}}


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (fail(401), Outcome.AUTH_FAILED),
        (fail(402), Outcome.AUTH_FAILED),
        (fail(429), Outcome.LIMITED),
        (fail(429, {"error": {"type": "usage_limit_reached"}}), Outcome.LIMITED),
        (fail(429, {"error": {"code": "insufficient_quota"}}), Outcome.AUTH_FAILED),
        (fail(529), Outcome.UNAVAILABLE),
        (fail(isRetryable=True), Outcome.UNAVAILABLE),
        (fail(400), Outcome.CRASHED),
        ({"name": "ProviderAuthError", "data": {}}, Outcome.AUTH_FAILED),
        ({"name": "MessageAbortedError"}, Outcome.INTERRUPTED),
        ({"name": "UnknownError", "data": {"message": "usage_limit_reached"}}, Outcome.CRASHED),
    ],
)
def test_an_error_is_judged_by_its_fields(error: dict[str, Any], outcome: Outcome) -> None:
    assert judge_error(error) is outcome


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (fail(429, headers={"retry-after": "60"}), 1060),
        (fail(429, headers={"retry-after-ms": "1500"}), 1001.5),
        (fail(429, {"error": {"type": "usage_limit_reached", "resets_at": 5000}}), 5000),
        (fail(429, headers={"retry-after": "soon"}), None),
        (fail(429), None),
    ],
)
def test_a_reset_is_when_the_provider_says(error: dict[str, Any], seconds: float | None) -> None:
    assert find_reset(error, 1_000_000) == (datetime.fromtimestamp(seconds, UTC) if seconds else None)


def test_steps_are_added_up_with_thoughts_as_output() -> None:
    tokens = {"output": 3, "reasoning": 4, "cache": {"read": 100, "write": 7}}
    report = read(START, finish("tool-calls", 0.25, **tokens), START, finish()).report(Exit(0))
    assert report.usage == Usage(Decimal("0.75"), 20, 7, 100, 7, 2)


def test_a_model_without_a_price_costs_an_unknown_amount_unless_it_is_free() -> None:
    for cost, known in (("reported", None), ("free", Decimal(0))):
        usage = read(START, finish(cost=0), cost=cost).report(Exit(0)).usage
        assert usage is not None
        assert (usage.cost_usd, usage.input_tokens) == (known, 10)


def test_a_step_that_is_open_makes_the_cost_unknown_and_the_end_no_completion() -> None:
    reader = read(START, finish(), START)
    assert not reader.is_over()
    report = reader.report(Exit(0))
    assert report.outcome is Outcome.NO_PROGRESS
    assert report.usage == Usage(None, 10, turns=1)


def test_the_last_word_is_a_step_that_stopped_or_an_error() -> None:
    assert read(START, finish()).is_over()
    assert not read(START, finish("tool-calls")).is_over()
    assert read({"type": "error", "error": fail(401)}).is_over()


def test_the_final_message_is_the_last_ones_whole_text() -> None:
    report = read(text("I look."), text("Do", "m2"), text("ne.", "m2"), START, finish()).report(Exit(0))
    assert report.final_message == "Done."


def test_words_of_the_agent_are_no_events() -> None:
    output = {"status": "completed", "input": {"command": "cat log"}, "output": "The user rejected permission; 429"}
    call = {"type": "tool_use", "part": {"tool": "bash", "state": output}}
    assert read(START, call, text("error 401"), finish()).report(Exit(0)).outcome is Outcome.COMPLETED
