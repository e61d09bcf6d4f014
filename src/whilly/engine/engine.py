"""The engine of one process: runs are driven from `launch` to `close`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, final

from sqlalchemy.exc import SQLAlchemyError

from whilly.domain.flow.plan_run import SOLO, PlanPhase, StopReason
from whilly.engine.fault import explain_fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import timedelta

    from whilly.application.live import Live
    from whilly.domain.flow.plan_run import Limits
    from whilly.domain.ids import PlanId, RunId
    from whilly.engine.dispatch import Dispatch
    from whilly.engine.driving.driver import Driver
    from whilly.engine.ledger import Ledger
    from whilly.engine.reading import Glance, Reading
    from whilly.ports.clock import Clock


LOOK_TICKS = 4
"""After how many ticks the engine sees what other processes have written."""


@contextmanager
def _explained() -> Iterator[None]:
    """Say what it means that the ledger cannot be used."""
    try:
        yield
    except SQLAlchemyError as error:
        fault = explain_fault(error)
        if fault is None:
            raise
        raise fault from error


@final
class Engine:
    """Works on one plan at a time. All methods are called from one thread; the work is done in others."""

    def __init__(self, ledger: Ledger, reading: Reading, driver: Driver, dispatch: Dispatch, clock: Clock) -> None:
        self._ledger = ledger
        self._reading = reading
        self._driver = driver
        self._dispatch = dispatch
        self._clock = clock
        self._plan: PlanId | None = None
        self._version = 0
        self._is_at_rest = False
        self._seen: tuple[PlanPhase, StopReason | None] | None = None
        self._ticks = 0
        self._deadline: float | None = None
        self._is_launched = False

    @property
    def live(self) -> Live:
        """What is happening right now."""
        return self._driver.live

    def begin(
        self,
        plan: PlanId,
        limits: Limits,
        *,
        base: str,
        target: str,
        timeout: timedelta | None = None,
        pipeline: str = SOLO,
    ) -> None:
        """Begin to work on `plan`, or go on where it was left."""
        self._plan = plan
        self._version, self._is_at_rest = 0, False
        self._seen = None
        self._deadline = self._clock.monotonic() + timeout.total_seconds() if timeout else None
        self._driver.plan = plan
        self._driver.control.resume(plan)
        self._dispatch.prepare()
        self._ledger.rest_others(plan)
        self._ledger.begin(plan, limits, base=base, target=target, pipeline=pipeline)
        # Last: what an earlier process left unfinished goes on under the new limits, not under the old ones.
        if not self._is_launched:
            self._dispatch.launch(self._driver.drive)
            self._is_launched = True

    def tick(self) -> bool:
        """Look at the clock and at what others have said; whether there is still something to do.

        Raises:
            Unavailable: the ledger cannot be read or written any more.
        """
        with _explained():
            return self._tick(self._require_plan())

    def _tick(self, plan: PlanId) -> bool:
        if self._driver.failure is not None:
            raise self._driver.failure
        if self._deadline is not None and self._clock.monotonic() >= self._deadline:
            self._deadline = None
            self.stop(StopReason.TIMEOUT)
        self._look(plan)
        if not self._is_at_rest or not self._driver.is_idle:
            return True
        # Somebody else may have ended a run whose workspace is still to be put away.
        return bool(self._reading.unclosed(plan) - self._driver.left.keys())

    def _look(self, plan: PlanId) -> None:
        """Read where the plan stands: at once when it was stopped or ended here, now and then for what others did."""
        written = self._ledger.written(plan)
        seen = (written.phase, written.stop) if written else None
        self._ticks += 1
        if seen == self._seen and self._ticks % LOOK_TICKS:
            return
        self._seen = seen
        version = self._reading.version(plan)
        if version != self._version:
            self._version = version
            self._is_at_rest = self._obey(self._reading.glance(plan, self._driver.driving))

    def _obey(self, glance: Glance) -> bool:
        """Do what the ledger says; whether the plan is at rest."""
        plan = self._require_plan()
        if glance.stop is not None and glance.phase is not PlanPhase.ACTIVE:
            self._driver.control.stop(plan, glance.stop)
        for run in glance.ended:
            self._driver.control.end(run)
        for stopped in glance.stopped:
            self._driver.control.stop_attempt(stopped.id, stopped.attempt, stopped.stop)
        self._ledger.refresh(plan, glance.version)
        return glance.phase is PlanPhase.IDLE

    def stop(self, reason: StopReason) -> None:
        """Nothing new starts, agents get TERM and their grace, work in progress is saved."""
        plan = self._require_plan()
        try:
            with _explained():
                self._ledger.stop(plan, reason)
        finally:
            # Also when that cannot be written down: agents must not outlive a person's word.
            self._driver.control.stop(plan, reason)

    @property
    def left(self) -> Mapping[RunId, str]:
        """Runs whose workspace could not be put away, and why."""
        return dict(self._driver.left)

    def hurry(self) -> None:
        """What is being ended is ended without grace."""
        self._driver.control.hurry()

    def close(self) -> None:
        """Stop driving; what is unfinished goes on with the next `begin`."""
        self._dispatch.close()

    def _require_plan(self) -> PlanId:
        if self._plan is None:
            message = "the engine has no plan yet"
            raise RuntimeError(message)
        return self._plan
