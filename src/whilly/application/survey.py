"""The ledger as somebody sees it who does not know whether it is whole."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from whilly.domain.flow.plan_run import PlanPhase
from whilly.domain.ids import ItemId, PlanId, RunId


class LedgerState(StrEnum):
    """Whether the ledger can be worked with."""

    ABSENT = "absent"
    """Nobody has worked here yet."""
    CURRENT = "current"
    OUTDATED = "outdated"
    """Its schema is older than this version's."""
    NEWER = "newer"
    """Its schema is one that this version does not know."""
    DAMAGED = "damaged"
    UNREADABLE = "unreadable"
    """It cannot be reached, opened or written."""
    UNKNOWN = "unknown"
    """It is not known where it is."""


@dataclass(frozen=True, slots=True)
class KnownPlan:
    """A plan in the ledger.

    Attributes:
        source: the file that it came from, absolute.
        target: the branch that its items are integrated into; empty before the first start.
        is_over: every item is done or skipped.
    """

    id: PlanId
    name: str
    source: str
    phase: PlanPhase
    target: str
    is_over: bool


@dataclass(frozen=True, slots=True)
class KnownRun:
    """A run in the ledger.

    Attributes:
        attempt: number of its current attempt.
        is_closed: it has ended, and its workspace was put away.
    """

    id: RunId
    item: ItemId
    attempt: int
    is_ended: bool
    is_closed: bool


@dataclass(frozen=True, slots=True)
class Survey:
    """What the ledger is like, and what it knows.

    Attributes:
        detail: what is wrong, for people; empty when nothing is.
    """

    state: LedgerState
    detail: str = ""
    plans: tuple[KnownPlan, ...] = ()
    runs: tuple[KnownRun, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether a run that is not in it does not exist."""
        return self.state in {LedgerState.ABSENT, LedgerState.CURRENT}
