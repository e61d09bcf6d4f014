"""Clock: what time it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime


class Clock(Protocol):
    """The time, as people know it and as stop-watches do."""

    def now(self) -> datetime:
        """The wall-clock time, aware, in UTC. It may jump."""
        ...

    def monotonic(self) -> float:
        """Seconds since some moment; never jumps back."""
        ...
