"""What the machine has left: this one, and control groups of both versions as files."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.memory.clock import ManualClock
from whilly.adapters.memory.machine import MemoryMachine
from whilly.adapters.system.cgroup import Allowance, find_cpu, find_memory
from whilly.adapters.system.machine import SystemMachine
from whilly.domain.machine import Gauge
from whilly.testing.contracts import MachineContract

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.ports.machine import Machine

GIB = 1 << 30


class TestMemoryMachine(MachineContract):
    @pytest.fixture
    def machine(self) -> Machine:
        return MemoryMachine(Gauge(0.5, 0.25, GIB, 7))


class TestSystemMachine(MachineContract):
    @pytest.fixture
    def machine(self, tmp_path: Path) -> Machine:
        return SystemMachine(tmp_path / "not" / "there" / "yet", ManualClock())


@dataclass
class Kernel:
    """The files that a kernel would show."""

    root: Path

    def write(self, files: Mapping[str, object]) -> None:
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{content}\n", encoding="utf-8")


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return Kernel(tmp_path / "root")


SECOND = {
    "proc/self/cgroup": "0::/user/job",
    "sys/fs/cgroup/user/job/memory.max": "max",
    "sys/fs/cgroup/user/job/memory.current": 3 * GIB,
    "sys/fs/cgroup/user/memory.max": 4 * GIB,
    "sys/fs/cgroup/user/memory.current": 3 * GIB,
    "sys/fs/cgroup/user/memory.stat": f"anon 1\ninactive_file {GIB}\nactive_file 5",
    "sys/fs/cgroup/user/job/cpu.max": "150000 100000",
    "sys/fs/cgroup/user/job/cpu.stat": "usage_usec 2000000\nuser_usec 1",
    "sys/fs/cgroup/user/cpu.max": "max 100000",
    "sys/fs/cgroup/user/cpu.stat": "usage_usec 9000000",
}
FIRST = {
    "proc/self/cgroup": "12:cpu,cpuacct:/docker/abc\n8:memory:/docker/abc\n1:name=systemd:/docker/abc",
    # In a container the group of its own is mounted at the top.
    "sys/fs/cgroup/memory/memory.limit_in_bytes": 2 * GIB,
    "sys/fs/cgroup/memory/memory.usage_in_bytes": GIB,
    "sys/fs/cgroup/memory/memory.stat": f"total_inactive_file {GIB // 2}",
    "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": 50_000,
    "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": 100_000,
    "sys/fs/cgroup/cpu,cpuacct/cpuacct.usage": 3_000_000_000,
}

UNLIMITED = {
    "sys/fs/cgroup/memory/memory.limit_in_bytes": (1 << 63) - 4096,
    "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": -1,
}


def test_the_second_version_s_limits_are_those_of_the_group_and_of_all_around_it(kernel: Kernel) -> None:
    kernel.write(SECOND)
    assert find_memory(kernel.root) == [Allowance(4 * GIB, 2 * GIB)]
    assert find_cpu(kernel.root) == [Allowance(1.5, 2.0)]


def test_the_first_version_s_limits_are_found_in_a_container(kernel: Kernel) -> None:
    kernel.write(FIRST)
    assert find_memory(kernel.root) == [Allowance(2 * GIB, GIB // 2)]
    assert find_cpu(kernel.root) == [Allowance(0.5, 3.0)]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"proc/self/cgroup": "0::/"},
        {"proc/self/cgroup": "nonsense\n::\n0:"},
        {**SECOND, "sys/fs/cgroup/user/memory.max": "0", "sys/fs/cgroup/user/job/cpu.max": "1 0"},
        {**SECOND, "sys/fs/cgroup/user/memory.max": "lots", "sys/fs/cgroup/user/job/cpu.max": ""},
        {
            **FIRST,
            "sys/fs/cgroup/memory/memory.limit_in_bytes": (1 << 63) - 4096,
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": -1,
        },
    ],
)
def test_where_there_is_no_limit_none_is_found(kernel: Kernel, files: Mapping[str, object]) -> None:
    kernel.write(files)
    assert (find_memory(kernel.root), find_cpu(kernel.root)) == ([], [])


def test_the_machine_is_as_full_as_its_fullest_part(kernel: Kernel, tmp_path: Path) -> None:
    kernel.write(SECOND)
    kernel.write({"sys/fs/cgroup/user/memory.current": 5 * GIB})
    gauge = SystemMachine(tmp_path, ManualClock(), kernel.root).measure()
    assert (gauge.memory, gauge.memory_size) == (1.0, 4 * GIB)


def test_processors_are_as_busy_as_they_were_since_the_last_look(kernel: Kernel, tmp_path: Path) -> None:
    kernel.write(SECOND)
    clock = ManualClock()
    machine = SystemMachine(tmp_path, clock, kernel.root)
    first = machine.measure()
    assert machine.measure() is first
    clock.advance(timedelta(seconds=10))
    # 15 seconds of 1.5 processors in 10 seconds: all of what the group may use.
    kernel.write({"sys/fs/cgroup/user/job/cpu.stat": "usage_usec 17000000"})
    assert machine.measure().cpu == 1.0
