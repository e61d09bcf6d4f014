"""Machine: what the computer has left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from whilly.domain.machine import Gauge


class Machine(Protocol):
    """The machine, or as much of it as this process may use."""

    def measure(self) -> Gauge:
        """What there is now; quick, and never an error: what cannot be told is left open."""
        ...
