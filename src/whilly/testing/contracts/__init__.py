"""One suite per port: a class to inherit, with one fixture to override, that every adapter of the port passes.

class TestMyClock(ClockContract):
    @pytest.fixture
    def clock(self) -> Clock:
        return MyClock()
"""

from __future__ import annotations

from whilly.testing.contracts.clock import ClockContract
from whilly.testing.contracts.secrets import SecretsContract
from whilly.testing.contracts.suite import ContractSuite

__all__ = ["ClockContract", "ContractSuite", "SecretsContract"]
