"""Names of things, each a type of its own so that they cannot be mixed up."""

from __future__ import annotations

from typing import NewType

ItemId = NewType("ItemId", str)
"""A work item's id inside its plan, as people write it: `TASK-001`, `GH-12`."""

PlanId = NewType("PlanId", str)
"""A plan's id in the ledger; derived from the plan file's path, so the same file is the same plan."""

RunId = NewType("RunId", str)
"""One work item's way through one pipeline."""

AttemptId = NewType("AttemptId", str)
"""`<run>/<number>`: one try at one stage. Numbers start at 1 and never repeat within a run."""

SessionId = NewType("SessionId", str)
"""The agent's own name for a conversation that can be resumed."""

CommitId = NewType("CommitId", str)
"""A full git object name of a commit."""


def asked_id(run: RunId) -> RunId:
    """The name of the workspace in which an agent looks at what a run began with, to answer a question."""
    return RunId(f"{run}-asked")


def attempt_id(run: RunId, number: int) -> AttemptId:
    """The id of attempt `number` of `run`."""
    return AttemptId(f"{run}/{number}")
