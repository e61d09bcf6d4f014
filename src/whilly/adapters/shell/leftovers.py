"""Processes that carry an attempt's mark in their environment, wherever they have moved to."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ROUNDS = 50
_POLL = 0.02
_HAS_PROC = Path("/proc/self/environ").exists()


async def end_marked(marks: Mapping[str, str], grace: float) -> list[int]:
    """End every process whose environment holds all of `marks`: TERM, `grace` seconds, KILL; the ids that were ended.

    A process that forks while it is being ended is looked for again.
    """
    ended: dict[int, None] = {}
    loop = asyncio.get_running_loop()
    deadline = loop.time() + grace
    asked: set[int] = set()
    for _ in range(_ROUNDS + int(grace / _POLL)):
        found = await asyncio.to_thread(lambda: list(_find_marked(marks)))
        if not found:
            break
        is_late = loop.time() >= deadline
        for process in found:
            ended[process.pid] = None
            if is_late or process.pid not in asked:
                with suppress(psutil.Error):
                    process.kill() if is_late else process.terminate()
                asked.add(process.pid)
        await asyncio.sleep(_POLL)
    return list(ended)


def kill_marked(marks: Mapping[str, str]) -> None:
    """KILL them now, without waiting."""
    for process in _find_marked(marks):
        with suppress(psutil.Error):
            process.kill()


def _find_marked(marks: Mapping[str, str]) -> Iterator[psutil.Process]:
    wanted = [f"{key}={value}".encode("utf-8", "surrogateescape") for key, value in marks.items()]
    for pid in psutil.pids():
        if pid == os.getpid():
            continue
        with suppress(psutil.Error, OSError):
            if _carries(pid, marks, wanted):
                process = psutil.Process(pid)
                if process.status() != psutil.STATUS_ZOMBIE and _carries(pid, marks, wanted):
                    yield process


def _carries(pid: int, marks: Mapping[str, str], wanted: list[bytes]) -> bool:
    # psutil takes ten times as long for it, and looks at every process of the machine.
    if _HAS_PROC:
        found = Path(f"/proc/{pid}/environ").read_bytes()
        return wanted[0] in found and set(wanted) <= set(found.split(b"\0"))
    environment = psutil.Process(pid).environ()
    return all(environment.get(key) == value for key, value in marks.items())
