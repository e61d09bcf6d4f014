"""What the kernel's control groups leave to this process: version 1 and 2, in a container or not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_LIMIT = 1 << 60
"""Version 1 writes a number of this size where there is no limit."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one group may have and has used.

    Attributes:
        limit: bytes of memory; processors (a fraction, too).
        used: bytes that cannot be given back at once; seconds of processor time since the group was made.
    """

    limit: float
    used: float


def find_memory(root: Path = Path("/")) -> list[Allowance]:
    """The limits of memory of this process's group and of all groups around it."""
    second = ("memory.max", "memory.current", "inactive_file")
    first = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    found = [_memory(group, *second) for group in _groups(root, "")]
    found += [_memory(group, *first) for group in _groups(root, "memory")]
    return [each for each in found if each is not None]


def find_cpu(root: Path = Path("/")) -> list[Allowance]:
    """The limits of processors of this process's group and of all groups around it."""
    found = [*map(_second_cpu, _groups(root, "")), *map(_first_cpu, _groups(root, "cpu"))]
    return [each for each in found if each is not None]


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """The folders of this process's group and of those around it; the empty controller is version 2."""
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        if (names == "" and controller == "") or (controller and controller in names.split(",")):
            top = root / "sys/fs/cgroup" / (names if controller else "")
            top = top if top.is_dir() else root / "sys/fs/cgroup" / controller
            group = top / path.lstrip("/")
            # In a container the path is the host's, and its own group is mounted at the top.
            while group != top:
                if group.is_dir():
                    yield group
                group = group.parent
            yield top


def _memory(group: Path, limit_file: str, used_file: str, cache: str) -> Allowance | None:
    limit, used = _number(group / limit_file), _number(group / used_file)
    if limit is None or used is None or not 0 < limit < _NO_LIMIT:
        return None
    return Allowance(limit, max(used - _field(group / "memory.stat", cache), 0))


def _second_cpu(group: Path) -> Allowance | None:
    quota, _, period = _read(group / "cpu.max").strip().partition(" ")
    used = _field(group / "cpu.stat", "usage_usec")
    if not quota.isdigit() or not period.isdigit() or int(period) == 0:
        return None
    return Allowance(int(quota) / int(period), used / 1e6)


def _first_cpu(group: Path) -> Allowance | None:
    quota, period = _number(group / "cpu.cfs_quota_us"), _number(group / "cpu.cfs_period_us")
    used = _number(group / "cpuacct.usage")
    if quota is None or period is None or used is None or quota <= 0 or period <= 0:
        return None
    return Allowance(quota / period, used / 1e9)


def _field(path: Path, name: str) -> int:
    for line in _read(path).splitlines():
        key, _, value = line.partition(" ")
        if key == name and value.strip().isdigit():
            return int(value)
    return 0


def _number(path: Path) -> int | None:
    text = _read(path).strip()
    return int(text) if text.lstrip("-").isdigit() else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
