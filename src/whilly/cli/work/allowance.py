"""What one `whilly run` may still use, over all its plans."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from whilly.cli.exit_codes import ExitCode
from whilly.cli.work.interrupts import Interrupts
from whilly.ports.clock import Clock

if TYPE_CHECKING:
    from whilly.config.settings import RunSettings

_AT_LEAST = timedelta(milliseconds=1)


@dataclass(slots=True)
class Allowance:
    """Time, attempts and the user's patience.

    Attributes:
        timeout: how long the plans may be worked on together; None is for ever.
        iterations: agent attempts that may still be started; None is no limit.
    """

    clock: Clock
    interrupts: Interrupts
    timeout: timedelta | None
    iterations: int | None
    _deadline: float | None = None

    @classmethod
    def of(cls, settings: RunSettings, clock: Clock, interrupts: Interrupts) -> Allowance:
        """All that the settings give."""
        timeout = timedelta(seconds=settings.timeout_s) if settings.timeout_s else None
        return cls(clock, interrupts, timeout, settings.max_iterations or None)

    @property
    def verdict(self) -> ExitCode:
        """`DONE` while something may be started; otherwise why not."""
        if self.interrupts.count:
            return ExitCode.INTERRUPTED
        if self._deadline is not None and self.clock.monotonic() >= self._deadline:
            return ExitCode.TIMEOUT
        return ExitCode.FAILED if self.iterations == 0 else ExitCode.DONE

    def begin(self) -> timedelta | None:
        """Work on a plan begins; the time that is left for it, None when it is unlimited."""
        if self.timeout is None:
            return None
        now = self.clock.monotonic()
        if self._deadline is None:
            # Not earlier: to start Python and the engine takes a second or two.
            self._deadline = now + self.timeout.total_seconds()
        return max(timedelta(seconds=self._deadline - now), _AT_LEAST)

    def use(self, iterations: int) -> None:
        """So many attempts were started."""
        if self.iterations is not None:
            self.iterations = max(0, self.iterations - iterations)
