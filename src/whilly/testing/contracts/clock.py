"""The contract of the Clock port."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from whilly.testing.contracts.suite import ContractSuite

if TYPE_CHECKING:
    from whilly.ports.clock import Clock


class ClockContract(ContractSuite):
    """Override the fixture `clock`."""

    def test_now_is_aware_and_in_utc(self, clock: Clock) -> None:
        assert clock.now().utcoffset() == timedelta()

    def test_monotonic_never_jumps_back(self, clock: Clock) -> None:
        readings = [clock.monotonic() for _ in range(100)]
        assert readings == sorted(readings)
