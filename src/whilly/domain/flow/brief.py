"""Everything that one attempt needs to know, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from whilly.domain.attempt import Outcome
from whilly.domain.change import CheckCommand
from whilly.domain.flow.budget import Booked
from whilly.domain.flow.pipeline import Stage
from whilly.domain.flow.run import Run
from whilly.domain.ids import AttemptId, CommitId, attempt_id
from whilly.domain.work_item import WorkItem


@dataclass(frozen=True, slots=True)
class Profile:
    """How a repository is set up and checked, and which of its paths may be changed."""

    setup: tuple[CheckCommand, ...] = ()
    verify: tuple[CheckCommand, ...] = ()
    repair_verify: tuple[CheckCommand, ...] = ()
    allowed_paths: tuple[str, ...] = ()
    forbidden_paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """How long a session may take and be silent; None is no limit.

    Attributes:
        silence: how long it may neither write nor have something at work.
        after_result: how long it may go on in silence when it has said its last word.
        output: bytes that it may write; 0 is no limit.
        handoff: how long a person may take.
    """

    attempt: timedelta | None = timedelta(hours=1)
    first_output: timedelta | None = timedelta(minutes=2)
    silence: timedelta | None = timedelta(minutes=15)
    after_result: timedelta = timedelta(seconds=30)
    grace: timedelta = timedelta(seconds=5)
    max_turns: int = 0
    output: int = 0
    handoff: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Brief:
    """One attempt at one stage of a run.

    Attributes:
        run: its position, with this attempt under way.
        home: absolute path of the attempt's private directory.
        branch: the branch of the run's workspace.
        target: the branch that the run is integrated into.
        max_cost_usd: what the attempt may cost; None is no limit.
        spent_usd: what the run's earlier attempts have cost.
        booked: what the earlier attempts in the run's session were booked with.
        began_at: when the attempt began.
        candidate: the commit that an earlier life of this attempt was about to make the target's head.
        instructions: what the plan tells every agent, by moment.
        source: the plan's file.
    """

    run: Run
    stage: Stage
    item: WorkItem
    home: str
    branch: str
    target: str
    agent: str = ""
    model: str = ""
    max_cost_usd: Decimal | None = None
    spent_usd: Decimal = Decimal(0)
    booked: Booked = field(default_factory=Booked)
    began_at: datetime | None = None
    candidate: CommitId | None = None
    instructions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    source: str = ""

    @property
    def attempt(self) -> AttemptId:
        """The attempt's id."""
        return attempt_id(self.run.id, self.run.attempt)

    @property
    def base(self) -> CommitId:
        """The commit that the run's change is against."""
        return self.run.base or CommitId("")


@dataclass(frozen=True, slots=True)
class Halt:
    """Why an attempt is to be ended from outside.

    Attributes:
        outcome: what the attempt comes to.
        at_once: without any grace.
        is_personal: it is meant for this attempt, not for the whole plan.
    """

    outcome: Outcome
    reason: str
    at_once: bool = False
    is_personal: bool = False


@dataclass(frozen=True, slots=True)
class HandedOver:
    """An attempt goes on in somebody's hands.

    Attributes:
        whom: as in `domain.flow.run.Wait`.
        reason: for people: how to see it, and what is wrong with its answer.
    """

    whom: str
    reason: str
