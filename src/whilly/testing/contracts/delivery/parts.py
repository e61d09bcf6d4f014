"""The contract of the Parts port."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from whilly.domain.ids import ItemId, PlanId
from whilly.domain.planning.parts import divide
from whilly.domain.work_item import ItemStatus, WorkItem
from whilly.testing.contracts.suite import ContractSuite

if TYPE_CHECKING:
    from whilly.ports.delivery.parts import Parts

WHOLE = WorkItem(ItemId("shop#1"), "Two pages", acceptance_criteria=("a page", "another page"))
PLAN = PlanId("shop-1")


def propose(*names: str) -> str:
    """A proposal: one task for each of these criteria, each waiting for the one before."""
    tasks = [
        {"id": name, "description": name, "dependencies": list(names[place - 1 : place]), "acceptance_criteria": [name]}
        for place, name in enumerate(names)
    ]
    return json.dumps({"tasks": tasks})


class PartsContract(ContractSuite):
    """Override the fixture `parts`: `PLAN` holds `WHOLE` alone, and an item is taken apart into three at most."""

    def test_a_proposal_becomes_parts_that_wait_for_each_other(self, parts: Parts) -> None:
        made = parts.take_apart(WHOLE, propose("a page", "another page"))
        assert not isinstance(made, str)
        assert [(each.id, each.dependencies) for each in made] == [("shop#1a", ()), ("shop#1b", ("shop#1a",))]

    @pytest.mark.parametrize(
        ("proposal", "fault"),
        [
            ("I would rather not", "JSON"),
            (propose("a page"), "1 tasks"),
            (propose("a page", "b", "c", "another page"), "4 tasks"),
            (propose("a page", "something else"), "“another page” of shop#1 is in none of the tasks"),
        ],
    )
    def test_what_is_wrong_with_a_proposal_is_told(self, parts: Parts, proposal: str, fault: str) -> None:
        found = parts.take_apart(WHOLE, proposal)
        assert isinstance(found, str)
        assert fault in found

    def test_the_bounds_are_told(self, parts: Parts) -> None:
        assert parts.describe_bounds()["max_parts"] == ("3",)

    async def test_what_is_in_one_piece_has_no_parts(self, parts: Parts) -> None:
        assert list(await parts.find(PLAN, WHOLE.id)) == []

    async def test_parts_are_found_where_they_stand(self, parts: Parts) -> None:
        made = parts.take_apart(WHOLE, propose("a page", "another page"))
        assert not isinstance(made, str)
        divided = divide(WHOLE, made, ())
        await parts.add(PLAN, divided)
        found = await parts.find(PLAN, WHOLE.id)
        assert [each.item for each in found] == list(divided)
        assert {each.status for each in found} == {ItemStatus.PENDING}
        assert list(await parts.find(PLAN, ItemId("shop#2"))) == []

    async def test_added_again_they_stay_as_they_are(self, parts: Parts) -> None:
        made = parts.take_apart(WHOLE, propose("a page", "another page"))
        assert not isinstance(made, str)
        first, second = divide(WHOLE, made, ())
        await parts.add(PLAN, [first])
        await parts.add(PLAN, [WorkItem(first.id, "another text", parent=WHOLE.id), second])
        assert [each.item for each in await parts.find(PLAN, WHOLE.id)] == [first, second]
