from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from whilly.application.telling.milestones import describe_event
from whilly.application.telling.rows import EventRow
from whilly.domain.ids import PlanId

AT = datetime(2026, 5, 2, 12, tzinfo=UTC)


def describe(kind: str, data: str, *, run: str | None = "t-1-abc-1", stage: str = "") -> dict[str, Any]:
    return describe_event(EventRow(1, run, "T-1" if run else None, kind, AT, data, stage), PlanId("plan-1"))


def test_an_attempts_end_is_flat() -> None:
    data = """{"number": 2, "at": "2026-05-02T12:00:00Z", "result":
        {"outcome": "rejected", "reason": "no", "commit": "abc",
        "usage": {"cost_usd": "0.25", "input_tokens": 10, "output_tokens": 5},
        "evidence": {"summary": "no", "command": "make", "exit_code": 2, "output": "long"},
        "outside_claims": ["b.txt"]}}"""
    assert describe("attempt_ended", data, stage="verify") == {
        "event": "attempt_ended",
        "ts": "2026-05-02T12:00:00.000+00:00",
        "plan": "plan-1",
        "task_id": "T-1",
        "run": "t-1-abc-1",
        "attempt": 2,
        "stage": "verify",
        "outcome": "rejected",
        "reason": "no",
        "cost_usd": 0.25,
        "input_tokens": 10,
        "output_tokens": 5,
        "commit": "abc",
        "command": "make",
        "exit_code": 2,
        "outside_claims": ["b.txt"],
        "milestone": "verification_failed",
    }


@pytest.mark.parametrize(
    ("kind", "stage", "outcome", "milestone"),
    [
        ("attempt_started", "execute", None, "execute_started"),
        ("attempt_started", "verify", None, "verification_started"),
        ("attempt_started", "repair", None, "repair_started"),
        ("attempt_ended", "repair", "completed", "repair_finished"),
        ("attempt_ended", "repair", "crashed", "repair_finished"),
        ("attempt_ended", "verify", "completed", "verification_passed"),
        ("attempt_ended", "verify", "rejected", "verification_failed"),
        ("attempt_ended", "verify", "interrupted", "verification_ended"),
        ("attempt_ended", "integrate", "conflict", "integration_conflict"),
        ("attempt_ended_refused", "verify", "completed", None),
    ],
)
def test_stages_have_the_names_that_people_look_for(
    kind: str, stage: str, outcome: str | None, milestone: str | None
) -> None:
    result = f', "result": {{"outcome": "{outcome}"}}' if outcome else ""
    assert describe(kind, f'{{"number": 1{result}}}', stage=stage).get("milestone") == milestone


@pytest.mark.parametrize("outcome", ["completed", "blocked"])
def test_what_no_repair_mends_is_escalated(outcome: str) -> None:
    data = f'{{"number": 7, "result": {{"outcome": "{outcome}", "reason": "twice", "is_escalated": true}}}}'
    told = describe("attempt_ended", data, stage="verify")
    assert (told["milestone"], told["is_escalated"]) == ("escalated", True)
    assert "is_escalated" not in describe("attempt_ended", data.replace("true", "false"), stage="verify")


@pytest.mark.parametrize("status", ["done", "failed", "skipped"])
def test_the_end_of_a_task_is_a_milestone(status: str) -> None:
    told = describe("run_ended", f'{{"status": "{status}", "reason": "", "commit": null}}')
    assert told["milestone"] == f"task_{status}"
    assert "reason" not in told
    assert "commit" not in told


def test_events_of_the_plan_have_no_task() -> None:
    told = describe("plan_begun", '{"number": 1, "parallel": 3, "budget": "5.00", "target": "t"}', run=None)
    assert told == {
        "event": "plan_begun",
        "ts": "2026-05-02T12:00:00.000+00:00",
        "plan": "plan-1",
        "number": 1,
        "parallel": 3,
        "budget": 5.0,
        "target": "t",
        "milestone": "plan_start",
    }


@pytest.mark.parametrize("data", ["", "[]", "null", "{"])
def test_damaged_details_are_left_out(data: str) -> None:
    assert set(describe("item_blocked", data)) == {"event", "ts", "plan", "task_id", "run", "milestone"}


def test_details_never_hide_what_every_event_has() -> None:
    assert describe("released", '{"plan": "other", "event": "x", "by": "ada"}')["plan"] == "plan-1"
