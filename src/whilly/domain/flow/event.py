"""What can happen to a run: past tense, appended to the ledger, never changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from whilly.domain.attempt import AttemptResult
from whilly.domain.confinement import Tier
from whilly.domain.ids import CommitId, SessionId


@dataclass(frozen=True, slots=True)
class AttemptStarted:
    """An attempt was claimed and its money reserved; only then does anything start.

    Attributes:
        base: the commit that the workspace starts from; kept by the run from its first attempt on.
        reserved: what it may cost, in USD.
        tier: how far it is held.
    """

    number: int
    stage: str
    at: datetime
    agent: str = ""
    session: SessionId | None = None
    base: CommitId | None = None
    reserved: Decimal = Decimal(0)
    tier: Tier = Tier.OPEN


@dataclass(frozen=True, slots=True)
class AttemptEnded:
    """An attempt came to its one outcome."""

    number: int
    result: AttemptResult
    at: datetime


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """A person does not want it any more."""

    by: str
    at: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Deferred:
    """The account that the next attempt would use is limited until then."""

    account: str
    at: datetime
    until: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class BudgetSpent:
    """The money that this one item may cost is gone before it was done."""

    at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Released:
    """A person lets a waiting run go on, perhaps with something to tell the agent.

    Attributes:
        accepted: the commit that they have looked at and agree to, whatever it changes; None is none.
    """

    by: str
    at: datetime
    note: str = ""
    accepted: CommitId | None = None


@dataclass(frozen=True, slots=True)
class AttemptHandedOver:
    """The attempt under way is in somebody's hands; again: there is something new to say about that.

    Attributes:
        whom: `person` or `person:<name>`.
        reason: for people: where it lies, what is wrong with an answer.
    """

    number: int
    at: datetime
    whom: str
    reason: str


@dataclass(frozen=True, slots=True)
class StopRequested:
    """A person wants the attempt under way to end; the run then waits for them."""

    by: str
    at: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """A person has something to say to whoever works on it."""

    by: str
    at: datetime
    note: str


RunEvent = (
    AttemptStarted
    | AttemptEnded
    | AttemptHandedOver
    | BudgetSpent
    | CancelRequested
    | Deferred
    | Released
    | StopRequested
    | Told
)

type_names: dict[str, type[RunEvent]] = {
    "attempt_started": AttemptStarted,
    "attempt_ended": AttemptEnded,
    "attempt_handed_over": AttemptHandedOver,
    "cancel_requested": CancelRequested,
    "deferred": Deferred,
    "budget_spent": BudgetSpent,
    "released": Released,
    "stop_requested": StopRequested,
    "told": Told,
}
"""Names under which events are stored: compatibility data, never renamed."""
