"""Sessions as processes under supervisors: see `whilly.transport.process.supervisor`."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import sys
import time
from datetime import timedelta
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.domain.errors import NotFound, PortError, Unavailable
from whilly.domain.session import Effort
from whilly.ports.sessions import Sessions, SessionState
from whilly.transport.process.census import find_carriers
from whilly.transport.process.effort import measure_effort
from whilly.transport.process.ending import end_carriers
from whilly.transport.process.furnishing import furnish, make_tmp, remove_tmp
from whilly.transport.process.home import AttemptHome, Spec
from whilly.transport.process.launching import SUPERVISOR_LOG, find_program, mark, spawn_supervisor
from whilly.transport.process.line_file import read_lines
from whilly.transport.process.readiness import wait_readable
from whilly.transport.process.records import OUTPUT_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whilly.domain.ids import AttemptId
    from whilly.domain.session import Exit, Launch

_GRACE = timedelta(seconds=5)
_PATIENCE = timedelta(seconds=25)
_REST_S = 1.0
_START_S = 15.0
"""A supervisor needs 0.02 s to start its agent; this is for a machine that is badly overloaded."""
_STOP_S = 5.0
"""What a supervisor may need beyond its agent's grace."""
_POLL_S = 0.02
_COLLECT_S = 1.0
_COLLECT_POLL_S = 0.002
_PASSING = {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT}

_MISSING = {errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ENOEXEC}


@final
class ProcessSessions(Sessions):
    """Sessions as processes of this machine, each under a supervisor that outlives Whilly.

    Args:
        state_dir: Whilly's directory in this repository; processes of other ones are never touched.
        python: the interpreter that runs the supervisors.
        patience: what a supervisor may need to kill everything and to leave word on a full disk, before it is
            killed itself.
    """

    def __init__(self, state_dir: str, *, python: str = sys.executable, patience: timedelta = _PATIENCE) -> None:
        self._state_dir = os.path.realpath(state_dir)
        self._python = python
        self._patience_s = patience.total_seconds()
        self._children: dict[int, str] = {}

    @override
    async def start(self, attempt: AttemptId, home: str, launch: Launch) -> None:
        _require_posix()
        self._reap()
        place = AttemptHome(home)
        if place.state() is SessionState.ABSENT:
            await self._start(attempt, place, launch)
        await self._await_record(place)
        if failure := place.failure():
            raise _explain_start(*failure, launch)

    @override
    async def find(self, home: str) -> SessionState:
        self._reap()
        return AttemptHome(home).state()

    @override
    async def read(self, home: str, offset: int) -> tuple[list[bytes], int]:
        place = AttemptHome(home)
        return await asyncio.to_thread(
            read_lines, place.path / OUTPUT_FILE, offset, lambda: place.state() is not SessionState.RUNNING
        )

    @override
    async def wait(self, home: str, seconds: float) -> Exit | None:
        place = AttemptHome(home)
        if not await self._await_end(place, seconds):
            return None
        if place.state() is SessionState.ABSENT:
            message = f"no session was ever started in {home}"
            raise NotFound(message)
        return await self._settle(place)

    @override
    async def effort(self, home: str) -> Effort:
        place = AttemptHome(home)
        supervisor = place.supervisor()
        if supervisor is None:
            return Effort()
        return await asyncio.to_thread(measure_effort, supervisor, place.path / OUTPUT_FILE)

    @override
    async def stop(self, home: str, *, at_once: bool = False) -> Exit:
        _require_posix()
        place = AttemptHome(home)
        if place.state() is SessionState.ABSENT:
            # A supervisor may be on its way here, sent by a Whilly that is gone: it will find the home closed.
            await asyncio.to_thread(place.bury, "stopped")
        if place.state() is SessionState.RUNNING:
            await self._end(place, at_once=at_once)
        return await self._settle(place)

    @override
    async def sweep(self, keep: Iterable[AttemptId]) -> list[str]:
        _require_posix()
        kept = frozenset(keep)
        found = await asyncio.to_thread(lambda: list(find_carriers(self._state_dir, lambda name: name not in kept)))
        homes = {carrier.supervises for carrier in found if carrier.supervises}
        await asyncio.gather(*(self.stop(home) for home in homes))
        found += await end_carriers(self._state_dir, lambda name: name not in kept, _REST_S)
        self._reap()
        return sorted({f"{carrier.attempt}: {carrier.name} ({carrier.pid})" for carrier in found})

    async def _start(self, attempt: AttemptId, place: AttemptHome, launch: Launch) -> None:
        program = find_program(launch)
        if program is None:
            raise _explain_program(errno.ENOENT, launch)
        try:
            furnish(launch)
            tmp = make_tmp(str(place.path)) if launch.has_own_tmp else {}
        except OSError as error:
            raise _explain_system(error.errno or 0) from error
        environment = mark({**launch.env, **tmp}, attempt, self._state_dir)
        spec = Spec(
            attempt=attempt,
            argv=launch.argv,
            cwd=launch.cwd,
            environment=tuple(sorted(environment)),
            time_limit_s=(launch.time_limit or timedelta()).total_seconds(),
            grace_s=(_GRACE if launch.grace is None else launch.grace).total_seconds(),
            output_limit=launch.output_limit,
        )
        try:
            place.prepare(spec, launch.stdin)
            pid, answer = spawn_supervisor(self._python, str(place.path), program, spec, environment)
        except OSError as error:
            raise _explain_system(error.errno or 0) from error
        except ValueError as error:
            message = f"the command line or environment of {launch.argv[0]!r} cannot be passed on: {error}"
            raise PortError(message) from error
        self._children[pid] = str(place.path)
        stage, _, number = (await _hear(answer)).partition(" ")
        if stage != "started":
            await self._collect([pid])
        if stage in {"fork", "record"}:
            raise _explain_system(int(number))

    async def _await_record(self, place: AttemptHome) -> None:
        """Until somebody's supervisor is on record: ours, or one that was faster."""
        deadline = time.monotonic() + _START_S
        while not place.is_on_record():
            if place.state() is SessionState.ABSENT or time.monotonic() > deadline:
                message = f"the supervisor in {place.path} ended before it had started anything"
                raise Unavailable(message, remedy=f"see {place.path / SUPERVISOR_LOG}")
            await asyncio.sleep(_POLL_S)

    async def _await_end(self, place: AttemptHome, seconds: float) -> bool:
        """Whether it is over within `seconds`."""
        deadline = time.monotonic() + seconds
        while place.state() is SessionState.RUNNING:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            process = place.open_supervisor()
            if process is None:
                await asyncio.sleep(min(left, _POLL_S))
                continue
            try:
                await wait_readable(process, left)
            finally:
                os.close(process)
        self._reap()
        return True

    async def _end(self, place: AttemptHome, *, at_once: bool) -> None:
        """Make the supervisor end its session; if it does not, end the supervisor."""
        spec = place.spec()
        await self._await_record(place)
        if not at_once:
            place.signal(signal.SIGTERM)
            grace = spec.grace_s if spec else _GRACE.total_seconds()
            if await self._await_end(place, grace + _STOP_S):
                return
        for number in (signal.SIGUSR1, signal.SIGKILL):
            place.signal(number)
            if await self._await_end(place, self._patience_s):
                await asyncio.to_thread(place.bury, "stopped")
                return
        message = f"the supervisor in {place.path} does not react, or runs on another machine or in a container"
        raise Unavailable(message)

    async def _settle(self, place: AttemptHome) -> Exit:
        """The end, after making sure that it is one."""
        await self._collect([pid for pid, home in self._children.items() if home == str(place.path)])
        if not place.is_swept() and (spec := place.spec()):
            await end_carriers(self._state_dir, lambda name: name == spec.attempt, _REST_S)
        await asyncio.to_thread(remove_tmp, str(place.path))
        return place.exit()

    async def _collect(self, pids: list[int]) -> None:
        """Leave no zombies of supervisors that are just ending."""
        deadline = time.monotonic() + _COLLECT_S
        self._reap()
        while not self._children.keys().isdisjoint(pids) and time.monotonic() < deadline:
            await asyncio.sleep(_COLLECT_POLL_S)
            self._reap()

    def _reap(self) -> None:
        for pid in list(self._children):
            try:
                is_over = os.waitpid(pid, os.WNOHANG)[0] == pid
            except ChildProcessError:
                is_over = True
            if is_over:
                self._children.pop(pid, None)


async def _hear(answer: int) -> str:
    try:
        return os.read(answer, 64).decode() if await wait_readable(answer, _START_S) else ""
    finally:
        os.close(answer)


def _require_posix() -> None:
    if sys.platform == "win32":
        message = "Windows has no processes that Whilly can supervise"
        raise PortError(message, remedy="run Whilly inside WSL 2")


def _explain_start(stage: str, number: int, launch: Launch) -> PortError:
    match stage:
        case "chdir":
            message = f"the session's directory {launch.cwd} cannot be entered: {os.strerror(number)}"
            return NotFound(message) if number in _MISSING else PortError(message)
        case "exec":
            return _explain_program(number, launch)
        case _:
            return _explain_system(number)


def _explain_program(number: int, launch: Launch) -> PortError:
    message = f"the program {launch.argv[0]!r} cannot be run: {os.strerror(number)}"
    remedy = "install it, or correct the agent's command"
    return NotFound(message, remedy=remedy) if number in _MISSING else PortError(message)


def _explain_system(number: int) -> PortError:
    message = f"a session cannot be started: {os.strerror(number)}"
    return Unavailable(message) if number in _PASSING else PortError(message)
