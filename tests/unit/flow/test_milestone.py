"""The steps of an issue have one set of names."""

from __future__ import annotations

import pytest

from whilly.application.telling.milestones import name_milestone
from whilly.domain.flow.milestone import Milestone

PROMISED = (
    "issue_ingested task_normalized readiness_checked strategy_selected plan_generated verification_failed "
    "repair_started repair_finished verification_passed pr_created blocked escalated"
)


def test_the_promised_names_are_there() -> None:
    assert set(PROMISED.split()) <= set(Milestone.__members__.values())


@pytest.mark.parametrize(
    ("event", "details", "milestone"),
    [
        ("attempt_ended", {"stage": "intake", "outcome": "completed"}, Milestone.ISSUE_INGESTED),
        ("attempt_ended", {"stage": "normalize", "outcome": "completed"}, Milestone.TASK_NORMALIZED),
        ("attempt_ended", {"stage": "verify", "outcome": "rejected"}, Milestone.VERIFICATION_FAILED),
        ("attempt_ended", {"stage": "verify", "outcome": "completed"}, Milestone.VERIFICATION_PASSED),
        ("attempt_started", {"stage": "repair"}, Milestone.REPAIR_STARTED),
        ("attempt_ended", {"stage": "pull_request", "outcome": "completed"}, Milestone.PR_CREATED),
        ("attempt_ended", {"stage": "feedback", "outcome": "rejected"}, Milestone.FEEDBACK_RECEIVED),
        ("attempt_ended", {"stage": "feedback", "outcome": "blocked"}, None),
        ("attempt_ended", {"stage": "feedback", "outcome": "completed"}, Milestone.MERGED),
        ("attempt_ended", {"stage": "feedback", "outcome": "given_up"}, Milestone.CLOSED),
        ("attempt_ended", {"stage": "readiness", "outcome": "blocked"}, Milestone.BLOCKED),
        ("attempt_ended", {"stage": "intake", "outcome": "given_up"}, Milestone.ESCALATED),
        ("item_blocked", {}, Milestone.BLOCKED),
        ("told", {}, None),
    ],
)
def test_what_the_ledger_records_has_its_step(event: str, details: dict[str, str], milestone: Milestone | None) -> None:
    assert name_milestone(event, details) == (milestone or "")
