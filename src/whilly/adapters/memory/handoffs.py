"""Hand-offs that are kept in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.domain.errors import NotFound, RuleViolation
from whilly.domain.handoff import Answer, Handoff, HandoffState, Standing, name_handoff
from whilly.ports.handoffs import Handoffs

if TYPE_CHECKING:
    from whilly.domain.ids import AttemptId
    from whilly.ports.clock import Clock


@final
class MemoryHandoffs(Handoffs):
    """Hand-offs as they outlive an engine: give the same object to the next one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._handoffs: dict[AttemptId, Handoff] = {}
        self._answers: dict[AttemptId, Answer | str] = {}
        self._withdrawn: dict[AttemptId, str] = {}

    @override
    async def offer(self, handoff: Handoff) -> Standing:
        if handoff.attempt not in self._withdrawn:
            made = replace(handoff, started_at=handoff.started_at or self._clock.now())
            self._handoffs.setdefault(handoff.attempt, made)
        return await self.look(handoff.attempt)

    @override
    async def look(self, attempt: AttemptId) -> Standing:
        known = self._handoffs.get(attempt)
        handoff = replace(known, prompt="") if known else None
        answer = self._answers.get(attempt)
        if attempt in self._withdrawn:
            return Standing(HandoffState.WITHDRAWN, "memory", handoff, problem=self._withdrawn[attempt])
        if handoff is None:
            return Standing(HandoffState.ABSENT, "memory")
        if answer is None:
            return Standing(HandoffState.OPEN, "memory", handoff)
        if isinstance(answer, str):
            return Standing(HandoffState.SPOILED, "memory", handoff, problem=answer)
        return Standing(HandoffState.ANSWERED, "memory", handoff, answer)

    @override
    async def read_prompt(self, attempt: AttemptId) -> str:
        if attempt not in self._handoffs:
            message = f"{attempt} was never handed over"
            raise NotFound(message)
        return self._handoffs[attempt].prompt

    @override
    async def answer(self, attempt: AttemptId, answer: Answer) -> None:
        if attempt in self._withdrawn or isinstance(self._answers.get(attempt), Answer):
            message = f"{name_handoff(attempt)} is over"
            raise RuleViolation(message)
        await self.read_prompt(attempt)
        self._answers[attempt] = answer

    @override
    async def withdraw(self, attempt: AttemptId, reason: str) -> None:
        self._withdrawn.setdefault(attempt, reason)

    @override
    async def list_all(self) -> list[AttemptId]:
        return list(self._handoffs)

    def spoil(self, attempt: AttemptId) -> None:
        """Answer it with something that cannot be used."""
        self._answers[attempt] = "it is not JSON"
