"""A run: one work item going through one pipeline. Its position is data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from whilly.domain.attempt import Evidence
from whilly.domain.ids import CommitId, ItemId, PlanId, RunId, SessionId
from whilly.domain.work_item import ItemStatus


class Phase(StrEnum):
    """Every run is, at any time, in exactly one of these."""

    QUEUED = "queued"
    """Its next attempt may start as soon as it is allowed to."""
    RUNNING = "running"
    """An attempt is under way."""
    WAITING = "waiting"
    """For a moment in time or for somebody; `Run.wait` says which."""
    ENDED = "ended"


PARTS = "parts"
"""Whom a run waits for while others do the parts of its item."""

REVIEWERS = "person:reviewers"
"""Whom it waits for while its pull request is open."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Why nothing happens now.

    Attributes:
        until: when it goes on by itself; None when somebody must act.
        whom: who must act: empty for time alone, `person`, `person:<name>`, `agent:<name>` for an account's limit, or
            `parts`.
        review: the commit that a person has to look at.
        is_handed_over: the attempt is under way in somebody's hands, and ends with what they answer.
    """

    reason: str
    since: datetime
    until: datetime | None = None
    whom: str = ""
    is_handed_over: bool = False
    review: CommitId | None = None

    @property
    def is_for_people(self) -> bool:
        """Whether a person has to do something."""
        return self.until is None and self.whom != PARTS


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended.

    Attributes:
        commit: what was integrated, when done.
    """

    status: ItemStatus
    reason: str = ""
    commit: CommitId | None = None
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A run's whole position.

    Attributes:
        attempt: number of the current attempt, or of the next one while none is under way; 0 before the first.
        tries: tries of this stage that failed in a way that counts.
        outages: times in a row that the agent's service was unavailable.
        interruptions: times in a row that an attempt ended through no fault of its own.
        rounds: how often the run was sent to a stage by a route, by that stage's name.
        agent: the one that the session is with.
        base: the commit that the workspace started from.
        head: the commit that holds the work so far.
        accepted: the commit that a person agreed to, which says nothing about a later one.
        integrated: the work whose change the target has; what is done afterwards is put there as a change of that.
        rejected: the commit that did not pass last time: what mends it has to differ from it.
        evidence: what failed last time; goes into the next prompt.
        fingerprint: of the last rejected check; the same one twice ends the run.
        not_before: the next attempt must not start earlier.
        stop: why the attempt under way is being ended, after which the run waits for a person; empty when it is not.
        notes: what people have said to whoever works on it, the latest last.
    """

    id: RunId
    plan: PlanId
    item: ItemId
    pipeline: str
    stage: str
    phase: Phase = Phase.QUEUED
    attempt: int = 0
    tries: int = 0
    outages: int = 0
    interruptions: int = 0
    rounds: Mapping[str, int] = field(default_factory=dict)
    session: SessionId | None = None
    agent: str = ""
    base: CommitId | None = None
    head: CommitId | None = None
    accepted: CommitId | None = None
    integrated: CommitId | None = None
    rejected: CommitId | None = None
    evidence: Evidence | None = None
    fingerprint: str = ""
    not_before: datetime | None = None
    wait: Wait | None = None
    ending: Ending | None = None
    stop: str = ""
    notes: tuple[str, ...] = ()

    @property
    def has_attempt(self) -> bool:
        """Whether an attempt is under way, be it in somebody's hands."""
        return self.phase is Phase.RUNNING or (self.wait is not None and self.wait.is_handed_over)

    @property
    def is_ended(self) -> bool:
        """Whether nothing more will happen in it."""
        return self.phase is Phase.ENDED
