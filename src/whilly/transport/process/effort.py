"""What the processes below an agent have done and are doing, seen from outside of its tree."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

from whilly.domain.session import Effort
from whilly.transport.process.records import HELD_FILE, parse_start, read_text

if TYPE_CHECKING:
    from pathlib import Path

_SLACK_S = 0.03
"""Processes begin at a tick of the system, 0.01 s each, and a file's time is that of the last tick."""


@dataclass(frozen=True, slots=True)
class _Process:
    age_s: float
    cpu_s: float
    reaped_s: float


def measure_effort(supervisor: int, output: Path) -> Effort:
    """The effort below the agent that this supervisor holds and that writes to `output`."""
    try:
        root = psutil.Process(supervisor)
        children = root.children()
        found = {each.pid: _look(each) for each in root.children(recursive=True)}
        reaped = _look(root)
    except psutil.Error:
        return Effort()
    known = {pid: process for pid, process in found.items() if process is not None}
    # What the supervisor has inherited came later than the agent, its first child.
    agent = max((each.pid for each in children if each.pid in known), key=lambda pid: known[pid].age_s, default=0)
    cpu_s = (reaped.reaped_s if reaped else 0.0) + sum(each.cpu_s + each.reaped_s for each in known.values())
    held = _find_held(output.parent)
    for pid in {agent, held} & known.keys():
        cpu_s -= known.pop(pid).cpu_s
    # The sandbox itself is as young as the agent in it, and no work of its.
    below = known.keys() - _find_above(held)
    silent_s = _find_silence(output)
    return Effort(cpu_s, any(known[pid].age_s < silent_s + _SLACK_S for pid in below))


def _find_held(home: Path) -> int:
    """The agent behind a sandbox; 0 without one."""
    text = read_text(str(home / HELD_FILE)).strip()
    return int(text) if text.isdigit() else 0


def _find_above(pid: int) -> set[int]:
    """The processes above this one."""
    try:
        return {each.pid for each in psutil.Process(pid).parents()} if pid else set()
    except psutil.Error:
        return set()


def _look(process: psutil.Process) -> _Process | None:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        times = process.cpu_times()
        age_s = _find_age(process)
    except psutil.Error:
        return None
    return _Process(age_s, times.user + times.system, times.children_user + times.children_system)


def _find_age(process: psutil.Process) -> float:
    if sys.platform != "linux":
        return time.clock_gettime(time.CLOCK_REALTIME) - process.create_time()
    # The moment that psutil gives is off by up to a second, as the boot's is.
    ticks = parse_start(read_text(f"/proc/{process.pid}/stat"))
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def _find_silence(output: Path) -> float:
    """Seconds since the agent last wrote something; none when it has written nothing."""
    try:
        status = output.stat()
    except OSError:
        return 0.0
    return time.clock_gettime(time.CLOCK_REALTIME) - status.st_mtime if status.st_size else 0.0
