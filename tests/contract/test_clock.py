from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.memory.clock import ManualClock
from whilly.adapters.system.clock import SystemClock
from whilly.testing.contracts import ClockContract

if TYPE_CHECKING:
    from whilly.ports.clock import Clock


class TestSystemClock(ClockContract):
    @pytest.fixture
    def clock(self) -> Clock:
        return SystemClock()


class TestManualClock(ClockContract):
    @pytest.fixture
    def clock(self) -> Clock:
        return ManualClock()


def test_a_manual_clock_moves_only_when_it_is_moved() -> None:
    clock = ManualClock(datetime(2026, 3, 1, 12, tzinfo=UTC))
    clock.advance(timedelta(seconds=90))
    assert clock.now() == datetime(2026, 3, 1, 12, 1, 30, tzinfo=UTC)
    assert clock.monotonic() == 90.0


def test_setting_the_wall_clock_back_leaves_the_stop_watch_alone() -> None:
    clock = ManualClock()
    clock.set_wall(datetime(2020, 1, 1, tzinfo=UTC))
    assert clock.now().year == 2020
    assert clock.monotonic() == 0.0


def test_time_does_not_run_backwards() -> None:
    with pytest.raises(ValueError, match="cannot pass"):
        ManualClock().advance(timedelta(seconds=-1))
