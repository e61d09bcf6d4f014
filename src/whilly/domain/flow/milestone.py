"""The steps of an issue's way to a pull request, as people look for them in its timeline."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Milestone(StrEnum):
    """Names of steps; an API."""

    ISSUE_INGESTED = "issue_ingested"
    TASK_NORMALIZED = "task_normalized"
    READINESS_CHECKED = "readiness_checked"
    CHALLENGED = "challenged"
    STRATEGY_SELECTED = "strategy_selected"
    PLAN_GENERATED = "plan_generated"
    EXECUTION_STARTED = "execution_started"
    EXECUTION_FINISHED = "execution_finished"
    VERIFICATION_STARTED = "verification_started"
    VERIFICATION_FAILED = "verification_failed"
    VERIFICATION_PASSED = "verification_passed"
    REPAIR_STARTED = "repair_started"
    REPAIR_FINISHED = "repair_finished"
    PR_CREATED = "pr_created"
    FEEDBACK_RECEIVED = "feedback_received"
    FEEDBACK_ANSWERED = "feedback_answered"
    MERGED = "merged"
    CLOSED = "closed"
    BLOCKED = "blocked"
    ESCALATED = "escalated"


_NAMED_OTHERWISE: Final = {
    "intake_finished": Milestone.ISSUE_INGESTED,
    "normalize_finished": Milestone.TASK_NORMALIZED,
    "readiness_finished": Milestone.READINESS_CHECKED,
    "challenge_finished": Milestone.CHALLENGED,
    "strategy_finished": Milestone.STRATEGY_SELECTED,
    "plan_finished": Milestone.PLAN_GENERATED,
    "execute_started": Milestone.EXECUTION_STARTED,
    "execute_finished": Milestone.EXECUTION_FINISHED,
    "pull_request_finished": Milestone.PR_CREATED,
    "feedback_started": Milestone.FEEDBACK_RECEIVED,
    "feedback_finished": Milestone.FEEDBACK_ANSWERED,
    "task_failed": Milestone.ESCALATED,
}
"""What the ledger's events are called by their stages → the step that this is."""


def find_milestone(name: str) -> Milestone | None:
    """The step that an event's milestone is, if it is one: `execute_started` and `execution_started` are the same."""
    if name in Milestone.__members__.values():
        return Milestone(name)
    return _NAMED_OTHERWISE.get(name)
