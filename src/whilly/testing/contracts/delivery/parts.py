"""The contract of the Parts port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.domain.ids import ItemId, PlanId
from whilly.domain.planning.parts import Spent, divide
from whilly.domain.work_item import ItemStatus, WorkItem
from whilly.testing.contracts.suite import ContractSuite

if TYPE_CHECKING:
    from whilly.ports.delivery.parts import Parts

WHOLE = WorkItem(ItemId("shop#1"), "Two pages")
PLAN = PlanId("shop-1")
FIRST, SECOND = divide(
    WHOLE,
    [
        WorkItem(ItemId("shop#1a"), "a page"),
        WorkItem(ItemId("shop#1b"), "another page", dependencies=(ItemId("shop#1a"),)),
    ],
    (),
)


class PartsContract(ContractSuite):
    """Override the fixture `parts`: `PLAN` holds `WHOLE` alone, and nothing was spent on it."""

    async def test_what_is_in_one_piece_has_no_parts(self, parts: Parts) -> None:
        assert list(await parts.find(PLAN, WHOLE.id)) == []
        assert await parts.count_spent(PLAN) == Spent()

    async def test_parts_are_found_where_they_stand(self, parts: Parts) -> None:
        await parts.add(PLAN, [FIRST, SECOND])
        found = await parts.find(PLAN, WHOLE.id)
        assert [each.item for each in found] == [FIRST, SECOND]
        assert {each.status for each in found} == {ItemStatus.PENDING}
        assert list(await parts.find(PLAN, ItemId("shop#2"))) == []

    async def test_added_again_they_stay_as_they_are(self, parts: Parts) -> None:
        await parts.add(PLAN, [FIRST])
        await parts.add(PLAN, [WorkItem(FIRST.id, "another text", parent=WHOLE.id), SECOND])
        assert [each.item for each in await parts.find(PLAN, WHOLE.id)] == [FIRST, SECOND]
