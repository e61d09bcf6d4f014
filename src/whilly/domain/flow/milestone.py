"""The steps of an issue's way to a pull request, as people look for them in its timeline."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from whilly.domain.attempt import Outcome


class Milestone(StrEnum):
    """Names of steps; an API."""

    ISSUE_INGESTED = "issue_ingested"
    TASK_NORMALIZED = "task_normalized"
    READINESS_CHECKED = "readiness_checked"
    CHALLENGED = "challenged"
    OPINION_WEIGHED = "opinion_weighed"
    STRATEGY_SELECTED = "strategy_selected"
    PLAN_GENERATED = "plan_generated"
    EXECUTE_STARTED = "execute_started"
    EXECUTE_FINISHED = "execute_finished"
    VERIFICATION_STARTED = "verification_started"
    VERIFICATION_FAILED = "verification_failed"
    VERIFICATION_PASSED = "verification_passed"
    REPAIR_STARTED = "repair_started"
    REPAIR_FINISHED = "repair_finished"
    PR_CREATED = "pr_created"
    FEEDBACK_RECEIVED = "feedback_received"
    MERGED = "merged"
    CLOSED = "closed"
    BLOCKED = "blocked"
    ESCALATED = "escalated"


_COMPLETED: Final = {
    "intake": Milestone.ISSUE_INGESTED,
    "normalize": Milestone.TASK_NORMALIZED,
    "readiness": Milestone.READINESS_CHECKED,
    "challenge": Milestone.CHALLENGED,
    "weigh": Milestone.OPINION_WEIGHED,
    "strategy": Milestone.STRATEGY_SELECTED,
    "plan": Milestone.PLAN_GENERATED,
    "pull_request": Milestone.PR_CREATED,
    "feedback": Milestone.MERGED,
}
"""What the end of a stage is that only issues pass."""
ISSUE_STAGES: Final = frozenset(_COMPLETED)
_OTHERWISE: Final = {
    Outcome.BLOCKED: Milestone.BLOCKED,
    Outcome.ASKED: Milestone.BLOCKED,
    Outcome.GIVEN_UP: Milestone.ESCALATED,
}
_FEEDBACK: Final = {
    Outcome.REJECTED: Milestone.FEEDBACK_RECEIVED,
    Outcome.ASKED: Milestone.FEEDBACK_RECEIVED,
    Outcome.GIVEN_UP: Milestone.CLOSED,
    Outcome.BLOCKED: None,
}


def find_milestone(stage: str, outcome: Outcome) -> Milestone | None:
    """The step that the end of an attempt is, at a stage that only issues pass; None is no step of its own."""
    if stage not in _COMPLETED:
        return None
    if outcome is Outcome.COMPLETED:
        return _COMPLETED[stage]
    if stage == "feedback" and outcome in _FEEDBACK:
        return _FEEDBACK[outcome]
    return _OTHERWISE.get(outcome)
