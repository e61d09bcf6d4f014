"""The contract of the Handoffs port."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

import pytest

from whilly.domain.attempt import Usage
from whilly.domain.errors import NotFound, RuleViolation
from whilly.domain.handoff import Answer, AnswerStatus, Handoff, HandoffState
from whilly.domain.ids import AttemptId, ItemId
from whilly.testing.contracts.suite import ContractSuite

if TYPE_CHECKING:
    from whilly.ports.handoffs import Handoffs

FIRST, SECOND = AttemptId("t-1-ab-1/1"), AttemptId("t-1-ab-1/2")
DONE = Answer(
    AnswerStatus.COMPLETE, "done: é\n", "ada", "", Usage(Decimal("0.5"), 10, 20, 3, 4, 7), timedelta(seconds=90)
)


def make_handoff(attempt: AttemptId = FIRST) -> Handoff:
    """A hand-off of an attempt."""
    return Handoff(attempt, ItemId("T-1"), "Do it", "execute", "# Task é\n", "/tree", "whilly/T-1", "/plan.json")


class HandoffsRig(Protocol):
    """What the suite needs to do beside the port."""

    @property
    def handoffs(self) -> Handoffs:
        """The adapter under test."""
        ...

    def spoil(self, attempt: AttemptId) -> None:
        """Answer an open hand-off with something that cannot be used."""
        ...


class HandoffsContract(ContractSuite):
    """Override the fixture `rig`."""

    async def test_what_was_never_offered_is_absent(self, rig: HandoffsRig) -> None:
        assert (await rig.handoffs.look(FIRST)).state is HandoffState.ABSENT
        assert await rig.handoffs.list_all() == []
        with pytest.raises(NotFound):
            await rig.handoffs.read_prompt(FIRST)
        with pytest.raises(NotFound):
            await rig.handoffs.answer(FIRST, DONE)

    async def test_an_offer_is_open_until_it_is_answered(self, rig: HandoffsRig) -> None:
        offered = await rig.handoffs.offer(make_handoff())
        assert offered.state is HandoffState.OPEN
        assert offered.handoff is not None
        assert (offered.handoff.item, offered.handoff.workspace) == ("T-1", "/tree")
        assert offered.handoff.started_at is not None
        assert await rig.handoffs.read_prompt(FIRST) == "# Task é\n"
        assert await rig.handoffs.list_all() == [FIRST]
        await rig.handoffs.answer(FIRST, DONE)
        found = await rig.handoffs.look(FIRST)
        assert (found.state, found.answer) == (HandoffState.ANSWERED, DONE)

    async def test_offering_again_changes_nothing(self, rig: HandoffsRig) -> None:
        first = await rig.handoffs.offer(make_handoff())
        assert await rig.handoffs.offer(make_handoff()) == first
        await rig.handoffs.answer(FIRST, DONE)
        assert (await rig.handoffs.offer(make_handoff())).state is HandoffState.ANSWERED

    async def test_it_is_answered_once(self, rig: HandoffsRig) -> None:
        await rig.handoffs.offer(make_handoff())
        await rig.handoffs.answer(FIRST, DONE)
        with pytest.raises(RuleViolation):
            await rig.handoffs.answer(FIRST, Answer(AnswerStatus.FAILED))
        assert (await rig.handoffs.look(FIRST)).answer == DONE

    async def test_an_answer_belongs_to_its_attempt(self, rig: HandoffsRig) -> None:
        await rig.handoffs.offer(make_handoff())
        await rig.handoffs.answer(FIRST, DONE)
        await rig.handoffs.offer(make_handoff(SECOND))
        assert (await rig.handoffs.look(SECOND)).state is HandoffState.OPEN
        assert set(await rig.handoffs.list_all()) == {FIRST, SECOND}

    @pytest.mark.parametrize("status", AnswerStatus)
    async def test_every_answer_arrives(self, rig: HandoffsRig, status: AnswerStatus) -> None:
        await rig.handoffs.offer(make_handoff())
        answer = Answer(status, whom="grace")
        await rig.handoffs.answer(FIRST, answer)
        assert (await rig.handoffs.look(FIRST)).answer == answer

    async def test_what_was_withdrawn_is_not_answered_any_more(self, rig: HandoffsRig) -> None:
        await rig.handoffs.offer(make_handoff())
        for _ in range(2):
            await rig.handoffs.withdraw(FIRST, "cancelled")
        found = await rig.handoffs.look(FIRST)
        assert (found.state, found.problem) == (HandoffState.WITHDRAWN, "cancelled")
        with pytest.raises(RuleViolation):
            await rig.handoffs.answer(FIRST, DONE)

    async def test_what_was_withdrawn_before_is_never_offered(self, rig: HandoffsRig) -> None:
        await rig.handoffs.withdraw(FIRST, "cancelled")
        assert (await rig.handoffs.offer(make_handoff())).state is HandoffState.WITHDRAWN

    async def test_an_answer_that_cannot_be_used_leaves_it_open_for_one_that_can(self, rig: HandoffsRig) -> None:
        await rig.handoffs.offer(make_handoff())
        rig.spoil(FIRST)
        found = await rig.handoffs.look(FIRST)
        assert found.state is HandoffState.SPOILED
        assert found.problem
        assert "\n" not in found.problem
        await rig.handoffs.answer(FIRST, DONE)
        assert (await rig.handoffs.look(FIRST)).answer == DONE
