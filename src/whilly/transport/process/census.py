"""Who on this machine belongs to an attempt: told by a mark in the environment, which children inherit.

It misses what wiped its environment *and* lost its parent, and what may not be looked at (another user's).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.transport.process.records import SUPERVISOR_VARIABLE, parse_start, read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ATTEMPT_VARIABLE = "WHILLY_ATTEMPT_ID"
STATE_VARIABLE = "WHILLY_STATE_DIR"
"""Set beside the attempt's id, so that two repositories on one machine leave each other's processes alone."""

_MOST_LISTS = 100
"""Somebody else may be starting processes without end."""
_HAS_PROC = Path("/proc/self/stat").exists()


@dataclass(frozen=True, slots=True)
class Carrier:
    """A process that belongs to an attempt.

    Attributes:
        supervises: the home that it supervises; empty for every other process.
        start: tells it apart from a later one with the same pid; the unit is the system's.
    """

    pid: int
    attempt: str
    name: str
    supervises: str
    start: float

    def signal(self, number: int) -> None:
        """Send a signal to this very process; nothing happens when it is gone."""
        try:
            if hasattr(os, "pidfd_open"):
                self._signal_exactly(number)
            elif _find_start(self.pid) == self.start:
                os.kill(self.pid, number)
        except OSError:
            return

    def _signal_exactly(self, number: int) -> None:
        descriptor = os.pidfd_open(self.pid)
        try:
            if _find_start(self.pid) == self.start:
                signal.pidfd_send_signal(descriptor, number)
        finally:
            os.close(descriptor)


@dataclass(frozen=True, slots=True)
class _Seen:
    pid: int
    parent: int
    name: str
    start: float
    environment: Mapping[str, str]


def find_carriers(state_dir: str, is_wanted: Callable[[str], bool]) -> Iterator[Carrier]:
    """Processes of the attempts that are wanted, the newest first, and then what they started in turn.

    This process and those above it are never among them: Whilly may itself have been started by an agent. Each is
    handed on as soon as it is seen, so that one which keeps forking can be caught.
    """
    line = _find_own_line()
    spared = set(line)
    seen: list[_Seen] = []
    attempts: dict[int, str] = {}
    for process in _look_into_proc() if _HAS_PROC else _look_with_psutil():
        seen.append(process)
        is_ours = process.environment.get(STATE_VARIABLE) == state_dir
        attempt = process.environment.get(ATTEMPT_VARIABLE, "") if is_ours else ""
        if attempt and not is_wanted(attempt):
            spared.add(process.pid)
        elif attempt and process.pid not in line:
            attempts[process.pid] = attempt
            yield _describe(process, attempt)
    yield from _find_unmarked(seen, attempts, spared)


def _find_unmarked(seen: list[_Seen], attempts: Mapping[int, str], spared: set[int]) -> Iterator[Carrier]:
    parents = {process.pid: process.parent for process in seen}
    for process in seen if attempts else ():
        if process.pid not in attempts and process.pid not in spared:
            above = next((pid for pid in _climb(process.pid, parents) if pid in attempts), None)
            if above is not None:
                yield _describe(process, attempts[above])


def _describe(process: _Seen, attempt: str) -> Carrier:
    home = process.environment.get(SUPERVISOR_VARIABLE, "")
    return Carrier(process.pid, attempt, process.name, home, process.start)


def _climb(pid: int, parents: Mapping[int, int]) -> Iterator[int]:
    met: set[int] = set()
    while pid > 1 and pid not in met:
        yield pid
        met.add(pid)
        pid = parents.get(pid, 0)


def _find_own_line() -> set[int]:
    """This process and those above it."""
    line: set[int] = set()
    pid = os.getpid()
    while pid > 1 and pid not in line:
        line.add(pid)
        pid = _find_parent(pid)
    return line


def _find_parent(pid: int) -> int:
    if _HAS_PROC:
        fields = read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()
        return int(fields[1]) if len(fields) > 1 else 0
    import psutil  # noqa: PLC0415 - needed only where there is no /proc

    try:
        return psutil.Process(pid).ppid()
    except psutil.Error:
        return 0


def _look_into_proc() -> Iterator[_Seen]:
    for name in _list_pids():
        head, _, tail = read_text(f"/proc/{name}/stat").rpartition(")")
        fields = tail.split()
        if len(fields) > 1 and fields[0] not in {"Z", "X"}:
            start = parse_start(f"){tail}")
            yield _Seen(name, int(fields[1]), head.partition("(")[2], start, _read_environment(name))


def _list_pids() -> Iterator[int]:
    """All processes, the newest first, and then those that have come while these were looked at.

    What forks and ends all the time is gone from a list before it is read: on a slow machine list after list misses it,
    and nothing seems to be left. Its child is new in the next list, which is short and read at once.
    """
    known: set[int] = set()
    for _ in range(_MOST_LISTS):
        found = {int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()}
        if not (fresh := found - known):
            return
        known = found
        yield from sorted(fresh, reverse=True)


def _read_environment(pid: int) -> dict[str, str]:
    try:
        data = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    if f"{ATTEMPT_VARIABLE}=".encode() not in data:
        return {}
    pairs = (os.fsdecode(entry).partition("=") for entry in data.split(b"\0"))
    return {name: value for name, _, value in pairs}


def _look_with_psutil() -> Iterator[_Seen]:
    import psutil  # noqa: PLC0415 - needed only where there is no /proc

    for process in psutil.process_iter():
        try:
            environment = process.environ() if process.status() != psutil.STATUS_ZOMBIE else {}
        except (psutil.Error, OSError):
            environment = {}
        try:
            yield _Seen(process.pid, process.ppid(), process.name(), process.create_time(), environment)
        except psutil.Error:
            continue


def _find_start(pid: int) -> float:
    if _HAS_PROC:
        return parse_start(read_text(f"/proc/{pid}/stat"))
    import psutil  # noqa: PLC0415 - needed only where there is no /proc

    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return 0.0
