"""When the machine has no room for a further agent."""

from __future__ import annotations

import pytest

from whilly.domain.machine import GIB, Gauge, Thresholds, find_shortage

WANTED = Thresholds(max_cpu=0.9, max_memory=0.8, min_disk=GIB)
FINE = Gauge(cpu=0.5, memory=0.5, memory_size=16 * GIB, disk_free=2 * GIB)


@pytest.mark.parametrize(
    ("gauge", "working", "reason"),
    [
        (FINE, 5, ""),
        (Gauge(), 5, ""),
        (Gauge(cpu=0.9, memory=0.8, memory_size=GIB, disk_free=GIB), 5, ""),
        (
            Gauge(cpu=1, memory=0.93, memory_size=16 * GIB, disk_free=GIB // 2),
            0,
            "the disk is nearly full: 0.5 GiB are free, machine.min_free_disk_gb is 1",
        ),
        (
            Gauge(memory=0.93, memory_size=16 * GIB),
            0,
            "memory is short: 93% of 16.0 GiB are in use, machine.max_memory_percent is 80",
        ),
        (Gauge(cpu=0.97), 1, "the processors are busy: 97% are in use, machine.max_cpu_percent is 90"),
        (Gauge(cpu=1.0), 0, ""),
    ],
)
def test_what_is_short_is_said(gauge: Gauge, working: int, reason: str) -> None:
    assert find_shortage(gauge, WANTED, working=working) == reason
    assert find_shortage(gauge, Thresholds(), working=working) == ""
