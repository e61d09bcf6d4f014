"""A machine that has what it is told to have."""

from __future__ import annotations

from typing import final

from typing_extensions import override

from whilly.domain.machine import Gauge
from whilly.ports.machine import Machine


@final
class MemoryMachine(Machine):
    """Shows the gauge that it was given last."""

    def __init__(self, gauge: Gauge | None = None) -> None:
        self.gauge = gauge or Gauge()

    @override
    def measure(self) -> Gauge:
        return self.gauge
