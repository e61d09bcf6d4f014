"""The contract of the Machine port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.domain.machine import Thresholds, find_shortage
from whilly.testing.contracts.suite import ContractSuite

if TYPE_CHECKING:
    from whilly.ports.machine import Machine


class MachineContract(ContractSuite):
    """Override the fixture `machine`."""

    def test_shares_are_shares_and_amounts_are_amounts(self, machine: Machine) -> None:
        for _ in range(3):
            gauge = machine.measure()
            for share in (gauge.cpu, gauge.memory):
                assert share is None or 0 <= share <= 1
            assert gauge.disk_free is None or gauge.disk_free >= 0
            assert gauge.memory_size >= 0
            assert gauge.memory is None or gauge.memory_size > 0

    def test_without_thresholds_nothing_is_short(self, machine: Machine) -> None:
        assert find_shortage(machine.measure(), Thresholds(), working=9) == ""
