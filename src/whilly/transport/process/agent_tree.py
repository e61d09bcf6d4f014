"""An agent's process and everything that it started, seen from its supervisor.

The supervisor loads this module, so it imports nothing that costs start-up time.
"""

from __future__ import annotations

import os
import sys

from whilly.transport.process.records import has_file, read_text

if sys.platform != "win32":
    import _signal  # type: ignore[import-not-found]  # `signal` without its enums, which cost 4 ms

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def call_prctl(option: int, argument: int) -> bool:
    """Call prctl(2); False where there is none."""
    if sys.platform != "linux":
        return False
    try:
        import _ctypes  # noqa: PLC0415 - `ctypes` costs 4 ms more for the same call

        function = _ctypes.dlsym(_ctypes.dlopen("", 2), "prctl")
        return bool(_ctypes.call_function(function, (option, argument, 0, 0, 0)) == 0)
    except (ImportError, AttributeError, OSError):
        try:
            import ctypes  # noqa: PLC0415 - only where the short way is closed

            return bool(ctypes.CDLL(None).prctl(option, argument, 0, 0, 0) == 0)
        except (ImportError, AttributeError, OSError):
            return False


class AgentTree:
    """The agent's process and all that it started."""

    def __init__(self, pid: int, *, is_reaper: bool) -> None:
        self.pid = pid
        self.status: int | None = None
        self.usage: tuple[float, float, int] = (0.0, 0.0, 0)
        self._is_reaper = is_reaper
        self._told: set[int] = set()

    def reap(self) -> bool:
        """Collect what has ended; False when there are no children at all any more."""
        try:
            while True:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
                if pid == 0:
                    return True
                self._told.discard(pid)
                if pid == self.pid:
                    self.status = status
                    self.usage = (usage.ru_utime, usage.ru_stime, usage.ru_maxrss)
        except ChildProcessError:
            return False

    def is_left(self) -> bool:
        """Whether something that the agent started still runs."""
        has_children = self.reap()
        return has_children if self._is_reaper else _signal_group(self.pid, 0)

    def is_proven_gone(self) -> bool:
        """Whether it is certain that nothing is left."""
        return self._is_reaper and not self.reap()

    def signal(self, number: int) -> None:
        """To the agent alone: it is not reaped yet, so the pid is its own."""
        if self.status is None:
            _signal_process(self.pid, number)

    def ask_rest(self) -> None:
        """TERM, once, to everything that is left."""
        if not self._is_reaper:
            _signal_group(self.pid, _signal.SIGTERM)
            return
        for pid in _find_descendants():
            if pid not in self._told:
                self._told.add(pid)
                _signal_process(pid, _signal.SIGTERM)

    def kill_rest(self) -> None:
        """KILL to the nearest of what is left; what those started comes to us next, as their reaper.

        The groups go first: a group is killed as a whole, so that a process which keeps forking cannot get away.
        They hold nothing but descendants, because the agent began a session of its own.
        """
        if not self._is_reaper:
            _signal_group(self.pid, _signal.SIGKILL)
            return
        for pid in _find_children():
            try:
                group = os.getpgid(pid)
            except OSError:
                group = 0
            if group > 1 and group != os.getpgrp():
                _signal_group(group, _signal.SIGKILL)
            _signal_process(pid, _signal.SIGKILL)


def _signal_process(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        return


def _signal_group(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True


def _find_children() -> list[int]:
    me = os.getpid()
    path = f"/proc/{me}/task/{me}/children"
    # A kernel without CONFIG_PROC_CHILDREN has no such file.
    return [int(pid) for pid in read_text(path).split()] if has_file(path) else _find_descendants()


def _find_descendants() -> list[int]:
    """Everything below this process, parents first."""
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            fields = read_text(f"/proc/{name}/stat").rpartition(")")[2].split()
            if len(fields) > 1:
                parents.setdefault(int(fields[1]), []).append(int(name))
    found = list(parents.get(os.getpid(), ()))
    for pid in found:
        found += parents.get(pid, ())
    return found
