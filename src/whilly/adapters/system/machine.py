"""SystemMachine: this computer, or the share of it that a control group leaves to this process."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, final

import psutil
from typing_extensions import override

from whilly.adapters.system.cgroup import find_cpu, find_memory
from whilly.domain.machine import Gauge
from whilly.ports.machine import Machine

if TYPE_CHECKING:
    from whilly.ports.clock import Clock

LEAST_S = 1.0
"""What is asked for again within this time is answered as before: a shorter look at processors says nothing."""


@final
class SystemMachine(Machine):
    """Measures with psutil and the files of control groups; may be used from several threads.

    Args:
        place: where work is written; if it does not exist yet, the first folder above it that does.
        clock: for the time between two looks at the processors.
        root: of the file system that holds `/proc` and `/sys`.
    """

    def __init__(self, place: Path, clock: Clock, root: Path = Path("/")) -> None:
        self._place = place
        self._clock = clock
        self._root = root
        self._lock = threading.Lock()
        self._looked_at = float("-inf")
        self._gauge = Gauge()
        self._used: dict[str, float] | None = None

    @override
    def measure(self) -> Gauge:
        with self._lock:
            now = self._clock.monotonic()
            if now - self._looked_at >= LEAST_S:
                elapsed, self._looked_at = now - self._looked_at, now
                memory, size = self._measure_memory()
                self._gauge = Gauge(self._measure_cpu(elapsed), memory, size, self._measure_disk())
            return self._gauge

    def _measure_disk(self) -> int | None:
        place = next((each for each in (self._place, *self._place.parents) if each.exists()), self._place)
        try:
            return psutil.disk_usage(str(place)).free
        except OSError:
            return None

    def _measure_memory(self) -> tuple[float | None, int]:
        """The share in use of whatever is nearest to its end: the machine's memory, or a group's."""
        host = psutil.virtual_memory()
        shares = [(1 - host.available / host.total, host.total)] if host.total else []
        shares += [(min(each.used / each.limit, 1.0), int(each.limit)) for each in find_memory(self._root)]
        return max(shares, default=(None, 0), key=lambda each: each[0] or 0)

    def _measure_cpu(self, elapsed: float) -> float | None:
        """The same of the processors since the last look; at the first, what the load of the last minute says."""
        times = psutil.cpu_times()
        idle = times.idle + getattr(times, "iowait", 0.0)
        # Guests are counted in user time already.
        total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
        groups = find_cpu(self._root)
        before = self._used
        self._used = {"busy": total - idle, "total": total} | {f"{n}": each.used for n, each in enumerate(groups)}
        if before is None or before.keys() != self._used.keys():
            return min(os.getloadavg()[0] / (os.cpu_count() or 1), 1.0) if hasattr(os, "getloadavg") else None
        used = [(each.limit * elapsed, self._used[f"{n}"] - before[f"{n}"]) for n, each in enumerate(groups)]
        shares = [spent / most for most, spent in used if most]
        if self._used["total"] > before["total"]:
            shares.append((self._used["busy"] - before["busy"]) / (self._used["total"] - before["total"]))
        return min(max(shares, default=0.0), 1.0)
