"""The contract of the Divider port."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from whilly.domain.ids import ItemId
from whilly.domain.work_item import WorkItem
from whilly.testing.contracts.suite import ContractSuite

if TYPE_CHECKING:
    from whilly.ports.delivery.divider import Divider

WHOLE = WorkItem(ItemId("shop#1"), "Two pages", acceptance_criteria=("a page", "another page"))


def propose(*names: str) -> str:
    """A proposal: one task for each of these criteria, each waiting for the one before, for two dollars."""
    tasks = [
        {
            "id": name,
            "description": name,
            "dependencies": list(names[place - 1 : place]),
            "acceptance_criteria": [name],
            "estimated_cost_usd": 2,
        }
        for place, name in enumerate(names)
    ]
    return json.dumps({"tasks": tasks})


class DividerContract(ContractSuite):
    """Override the fixture `divider`: it makes three parts at most, which may cost five dollars."""

    def test_a_proposal_becomes_parts_that_wait_for_each_other(self, divider: Divider) -> None:
        made = divider.take_apart(WHOLE, propose("a page", "another page"))
        assert not isinstance(made, str)
        assert [(each.id, each.dependencies) for each in made] == [("shop#1a", ()), ("shop#1b", ("shop#1a",))]

    @pytest.mark.parametrize(
        ("proposal", "fault"),
        [
            ("I would rather not", "JSON"),
            (propose("a page"), "1 tasks"),
            (propose("a page", "b", "c", "another page"), "4 tasks"),
            (propose("a page", "something else"), "“another page” of shop#1 is in none of the tasks"),
            (propose("a page", "b", "another page"), "the tasks are estimated at $6"),
        ],
    )
    def test_what_is_wrong_with_a_proposal_is_told(self, divider: Divider, proposal: str, fault: str) -> None:
        found = divider.take_apart(WHOLE, proposal)
        assert isinstance(found, str)
        assert fault in found

    def test_what_is_spent_already_is_not_there_for_parts(self, divider: Divider) -> None:
        found = divider.take_apart(WHOLE, propose("a page", "another page"), spent=Decimal("1.5"))
        assert isinstance(found, str)
        assert "the tasks are estimated at $4" in found

    def test_the_bounds_are_told(self, divider: Divider) -> None:
        assert divider.describe_bounds() == {"max_parts": ("3",), "budget": ("5",)}
