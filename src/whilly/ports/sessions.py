"""Sessions: agent processes that outlive Whilly."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whilly.domain.ids import AttemptId
    from whilly.domain.session import Effort, Exit, Launch


class SessionState(StrEnum):
    """Where a session's process stands."""

    ABSENT = "absent"
    """It was never started."""
    RUNNING = "running"
    ENDED = "ended"
    """It has ended and left word of how."""
    LOST = "lost"
    """It was started, is gone, and left no word."""


class Sessions(Protocol):
    """Starts, finds and stops the processes of sessions. `home` is the attempt's private directory.

    Every call may be made again after a crash, by another process, and means the same.
    """

    async def start(self, attempt: AttemptId, home: str, launch: Launch) -> None:
        """Start the process unless it was started or stopped before in this home. Returns when it is on record.

        Raises:
            Unavailable: the machine has no process or memory to spare (EAGAIN, ENOMEM).
            NotFound: the program or the directory to start it in does not exist.
            PortError: its command line or environment is impossible, or this system cannot hold sessions.
        """
        ...

    async def find(self, home: str) -> SessionState:
        """Where the process stands now."""
        ...

    async def read(self, home: str, offset: int) -> tuple[list[bytes], int]:
        """Complete lines of its standard output from byte `offset` on, without their ends, and the offset after them.

        About a megabyte at a time, so ask again until there are none. Once it has ended, an unfinished last line
        counts as complete. A line may be many megabytes long; past 64 MiB it comes in pieces.
        """
        ...

    async def wait(self, home: str, seconds: float) -> Exit | None:
        """How it ended; None when it is still running after `seconds`. A lost one has `cause="lost"`.

        Nothing of the session runs any more when this has returned an exit.

        Raises:
            NotFound: it was never started.
            Unavailable: something of it is left that cannot be ended.
        """
        ...

    async def effort(self, home: str) -> Effort:
        """What the processes that the agent has started are doing; nothing, when that cannot be told."""
        ...

    async def stop(self, home: str, *, at_once: bool = False) -> Exit:
        """End it and everything that it started: TERM, its grace (none if `at_once`), KILL; then make sure.

        Stopping one that has ended, or was never started, is not an error; the latter cannot be started any more,
        and its exit has `cause="stopped"`.

        Raises:
            Unavailable: something of it is left that cannot be ended.
        """
        ...

    async def sweep(self, keep: Iterable[AttemptId]) -> list[str]:
        """End every process that a session left behind, except those of the attempts in `keep`; say which."""
        ...
