"""Whether the machine has room for one more agent."""

from __future__ import annotations

from dataclasses import dataclass

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Gauge:
    """What the machine has at a moment, as far as this process may use it; None is not known.

    Attributes:
        cpu: the share of the processors that is in use, 0 to 1, by whomever.
        memory: the share of the memory that is in use and cannot be given back at once.
        memory_size: bytes that this is the share of.
        disk_free: bytes that may still be written where the work is.
    """

    cpu: float | None = None
    memory: float | None = None
    memory_size: int = 0
    disk_free: int | None = None


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From where on something counts as short; None is never.

    Attributes:
        max_cpu: share of the processors.
        max_memory: share of the memory.
        min_disk: bytes.
    """

    max_cpu: float | None = None
    max_memory: float | None = None
    min_disk: int | None = None


def find_shortage(gauge: Gauge, thresholds: Thresholds, *, working: int) -> str:
    """Why no further agent should start now, for people; empty when one may.

    It says nothing about those that work: what is short may be somebody else's doing, and is no reason to end anything.

    Args:
        gauge: what there is.
        thresholds: what is wanted.
        working: agents of Whilly that are at work. Busy processors slow the first one down and break nothing, so it
            may start; without room on the disk or in memory it would fail.
    """
    if gauge.disk_free is not None and thresholds.min_disk is not None and gauge.disk_free < thresholds.min_disk:
        least = f"machine.min_free_disk_gb is {thresholds.min_disk / GIB:g}"
        return f"the disk is nearly full: {gauge.disk_free / GIB:.1f} GiB are free, {least}"
    if gauge.memory is not None and thresholds.max_memory is not None and gauge.memory > thresholds.max_memory:
        most = f"machine.max_memory_percent is {thresholds.max_memory * 100:g}"
        return f"memory is short: {gauge.memory:.0%} of {gauge.memory_size / GIB:.1f} GiB are in use, {most}"
    if working and gauge.cpu is not None and thresholds.max_cpu is not None and gauge.cpu > thresholds.max_cpu:
        most = f"machine.max_cpu_percent is {thresholds.max_cpu * 100:g}"
        return f"the processors are busy: {gauge.cpu:.0%} are in use, {most}"
    return ""
