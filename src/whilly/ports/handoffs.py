"""Handoffs: work in people's hands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from whilly.domain.handoff import Answer, Handoff, Standing
    from whilly.domain.ids import AttemptId


class Handoffs(Protocol):
    """Hands attempts to people and takes their answers. Each belongs to one attempt and is answered once.

    Every call may be made again after a crash, by another process, and means the same.
    """

    async def offer(self, handoff: Handoff) -> Standing:
        """Hand it over unless it was handed over or withdrawn before.

        Raises:
            Unavailable: no room, or it cannot be written for a reason that may pass.
        """
        ...

    async def look(self, attempt: AttemptId) -> Standing:
        """Where it stands now. Whatever an answer is made of, this neither fails, nor waits, nor changes anything."""
        ...

    async def read_prompt(self, attempt: AttemptId) -> str:
        """What the person is to read.

        Raises:
            NotFound: it was never handed over.
        """
        ...

    async def answer(self, attempt: AttemptId, answer: Answer) -> None:
        """Answer it. An answer that cannot be used is put aside, not lost.

        Raises:
            NotFound: it was never handed over.
            RuleViolation: it is answered already, or was withdrawn.
            Unavailable: it cannot be written.
        """
        ...

    async def withdraw(self, attempt: AttemptId, reason: str) -> None:
        """Take it back: what is answered from now on does not count. Also before it is handed over.

        Raises:
            Unavailable: that cannot be written.
        """
        ...

    async def list_all(self) -> list[AttemptId]:
        """All that were ever handed over and are still there, the oldest first."""
        ...
