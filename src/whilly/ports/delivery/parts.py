"""Parts: a large item becomes several in the same plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whilly.domain.ids import ItemId, PlanId
    from whilly.domain.planning.parts import Part, Spent
    from whilly.domain.work_item import WorkItem


class Parts(Protocol):
    """What an item of a plan is taken apart into."""

    async def add(self, plan: PlanId, parts: Sequence[WorkItem]) -> None:
        """Make them items of the plan, which is worked on; those that it has already stay as they are.

        Raises:
            Unavailable: the ledger cannot be written for a reason that may pass.
        """
        ...

    async def find(self, plan: PlanId, whole: ItemId) -> Sequence[Part]:
        """The parts of an item, in the plan's order; empty when it is in one piece."""
        ...

    async def count_spent(self, plan: PlanId) -> Spent:
        """What all attempts at the plan's items have cost."""
        ...
