"""A clock that stands still until it is moved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import final

from typing_extensions import override

from whilly.ports.clock import Clock


@final
class ManualClock(Clock):
    """Shows the time that it was given.

    Args:
        at: the first time it shows, aware.
    """

    def __init__(self, at: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = at.astimezone(UTC)
        self._monotonic = 0.0

    @override
    def now(self) -> datetime:
        return self._now

    @override
    def monotonic(self) -> float:
        return self._monotonic

    def advance(self, by: timedelta) -> None:
        """Let time pass on both clocks.

        Raises:
            ValueError: `by` is negative; time does not run backwards, only the wall clock can be set back.
        """
        if by < timedelta():
            message = f"time cannot pass by {by}"
            raise ValueError(message)
        self._now += by
        self._monotonic += by.total_seconds()

    def set_wall(self, at: datetime) -> None:
        """Set the wall clock, forwards or backwards, as an administrator or a time server would."""
        self._now = at.astimezone(UTC)
