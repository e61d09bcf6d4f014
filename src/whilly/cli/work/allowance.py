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
        deadline: on the monotonic clock; None is never.
        iterations: agent attempts that may still be started; None is no limit.
    """

    clock: Clock
    interrupts: Interrupts
    deadline: float | None
    iterations: int | None

    @classmethod
    def of(cls, settings: RunSettings, clock: Clock, interrupts: Interrupts) -> Allowance:
        """All that the settings give, from now on."""
        deadline = clock.monotonic() + settings.timeout_s if settings.timeout_s else None
        return cls(clock, interrupts, deadline, settings.max_iterations or None)

    @property
    def verdict(self) -> ExitCode:
        """`DONE` while something may be started; otherwise why not."""
        if self.interrupts.count:
            return ExitCode.INTERRUPTED
        if self.deadline is not None and self.clock.monotonic() >= self.deadline:
            return ExitCode.TIMEOUT
        return ExitCode.FAILED if self.iterations == 0 else ExitCode.DONE

    @property
    def time_left(self) -> timedelta | None:
        """Until the deadline; None when there is none."""
        if self.deadline is None:
            return None
        return max(timedelta(seconds=self.deadline - self.clock.monotonic()), _AT_LEAST)

    def use(self, iterations: int) -> None:
        """So many attempts were started."""
        if self.iterations is not None:
            self.iterations = max(0, self.iterations - iterations)
