"""What the running engine knows about being asked to stop, shared by the threads that ask and those that obey."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, final

from whilly.domain.attempt import Outcome
from whilly.domain.flow.brief import Halt
from whilly.domain.flow.plan_run import StopReason

if TYPE_CHECKING:
    from whilly.domain.flow.run import Run
    from whilly.domain.ids import PlanId, RunId

_REASONS = {
    StopReason.INTERRUPTED: "the run was interrupted",
    StopReason.TIMEOUT: "the run's time was over",
    StopReason.BUDGET: "the budget is spent",
    StopReason.AUTH: "the agent is not logged in",
}


@final
class Control:
    """Stops of plans and ends of runs, as far as attempts under way must know."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stops: dict[PlanId, StopReason] = {}
        self._hurried: set[PlanId] = set()
        self._ended: set[RunId] = set()
        self._stopped: dict[tuple[RunId, int], str] = {}

    def stop(self, plan: PlanId, reason: StopReason) -> None:
        """Attempts of this plan are to be ended: those of agents only, when it is the money that is gone."""
        if reason not in _REASONS:
            return
        with self._lock:
            if self._stops.get(plan, StopReason.BUDGET) is StopReason.BUDGET:
                self._stops[plan] = reason

    def hurry(self) -> None:
        """Whatever is being ended is to be ended without grace."""
        with self._lock:
            self._hurried |= self._stops.keys()

    def end(self, run: RunId) -> None:
        """The ledger ended this run from outside."""
        with self._lock:
            self._ended.add(run)

    def stop_attempt(self, run: RunId, number: int, reason: str) -> None:
        """A person wants this attempt to end."""
        with self._lock:
            self._stopped[run, number] = reason

    def resume(self, plan: PlanId) -> None:
        """Work on the plan has begun again."""
        with self._lock:
            self._stops.pop(plan, None)
            self._hurried.discard(plan)

    def is_stopping(self, plan: PlanId) -> bool:
        """Whether attempts of this plan are being ended."""
        with self._lock:
            return plan in self._stops

    def halt(self, run: Run, *, is_agent: bool) -> Halt | None:
        """Why the run's current attempt is to be ended; None while it may go on."""
        plan = run.plan
        with self._lock:
            at_once = plan in self._hurried
            if run.id in self._ended:
                return Halt(Outcome.CANCELLED, "the run was cancelled", at_once=at_once, is_personal=True)
            if said := self._stopped.get((run.id, run.attempt)):
                return Halt(Outcome.INTERRUPTED, said, at_once=at_once, is_personal=True)
            reason = self._stops.get(plan)
            if reason is None or (reason is StopReason.BUDGET and not is_agent):
                return None
            outcome = Outcome.OVER_BUDGET if reason is StopReason.BUDGET else Outcome.INTERRUPTED
            return Halt(outcome, _REASONS[reason], at_once=at_once)
