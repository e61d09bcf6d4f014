"""Sessions that are played, not run."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.domain.errors import NotFound
from whilly.domain.ids import AttemptId
from whilly.domain.session import Effort, Exit
from whilly.ports.sessions import Sessions, SessionState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from whilly.domain.session import Launch

_POLL_S = 0.005


@dataclass(frozen=True, slots=True)
class Play:
    """What a session's process does.

    Attributes:
        output: what it writes at once.
        exit: how it ends at once; None makes it run until it is stopped, finished or lost.
    """

    output: bytes = b""
    exit: Exit | None = field(default_factory=lambda: Exit(code=0))


@dataclass(slots=True)
class _Session:
    attempt: AttemptId | None
    state: SessionState
    output: bytes
    exit: Exit


@final
class MemorySessions(Sessions):
    """Plays sessions, and keeps them as if they outlived Whilly: give the same object to the next engine.

    May be used from several threads and event loops, one after the other for each home.

    Args:
        play: called once for each session that starts; it may change the workspace as an agent would, and raise what
            the port may raise.
    """

    def __init__(self, play: Callable[[AttemptId, Launch], Play]) -> None:
        self._play = play
        self._sessions: dict[str, _Session] = {}
        self.started: list[AttemptId] = []
        self.efforts: dict[str, Effort] = {}

    @override
    async def start(self, attempt: AttemptId, home: str, launch: Launch) -> None:
        if home in self._sessions:
            return
        play = self._play(attempt, launch)
        state = SessionState.RUNNING if play.exit is None else SessionState.ENDED
        self._sessions[home] = _Session(attempt, state, play.output, play.exit or Exit(code=None, cause="lost"))
        self.started.append(attempt)

    @override
    async def find(self, home: str) -> SessionState:
        return self._sessions[home].state if home in self._sessions else SessionState.ABSENT

    @override
    async def read(self, home: str, offset: int) -> tuple[list[bytes], int]:
        session = self._sessions.get(home)
        if session is None:
            return [], 0
        data = session.output[offset:]
        if session.state is SessionState.RUNNING:
            data = data[: data.rfind(b"\n") + 1]
        lines = data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        return [line.removesuffix(b"\r") for line in lines], offset + len(data)

    @override
    async def wait(self, home: str, seconds: float) -> Exit | None:
        if home not in self._sessions:
            message = f"no session was ever started in {home}"
            raise NotFound(message)
        deadline = time.monotonic() + seconds
        while self._sessions[home].state is SessionState.RUNNING:
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            await asyncio.sleep(min(left, _POLL_S))
        return self._sessions[home].exit

    @override
    async def effort(self, home: str) -> Effort:
        is_running = home in self._sessions and self._sessions[home].state is SessionState.RUNNING
        return self.efforts.get(home, Effort()) if is_running else Effort()

    @override
    async def stop(self, home: str, *, at_once: bool = False) -> Exit:
        stopped = Exit(code=None, signal=9 if at_once else 15, cause="stopped")
        if home not in self._sessions:
            never = _Session(None, SessionState.ENDED, b"", replace(stopped, signal=None))
            self._sessions[home] = never
        elif self._sessions[home].state is SessionState.RUNNING:
            self.finish(home, stopped)
        return self._sessions[home].exit

    @override
    async def sweep(self, keep: Iterable[AttemptId]) -> list[str]:
        kept = frozenset(keep)
        running = [home for home, session in self._sessions.items() if session.state is SessionState.RUNNING]
        left = [home for home in running if self._sessions[home].attempt not in kept]
        for home in left:
            await self.stop(home)
        return sorted(f"{self._sessions[home].attempt}: played in {home}" for home in left)

    def write(self, home: str, data: bytes) -> None:
        """Let a running session write more."""
        self._sessions[home].output += data

    def finish(self, home: str, exit_: Exit) -> None:
        """End a running session."""
        self._sessions[home].exit = exit_
        self._sessions[home].state = SessionState.ENDED

    def lose(self, home: str) -> None:
        """End a running session so that it leaves no word."""
        self._sessions[home].exit = Exit(code=None, cause="lost")
        self._sessions[home].state = SessionState.LOST
