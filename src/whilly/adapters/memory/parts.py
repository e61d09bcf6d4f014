"""MemoryParts: parts in a list, which a test may set to where they stand."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.planfile.decompose import Bounds, decompose, describe_bounds, render_problems
from whilly.domain.planning.parts import Part, Spent
from whilly.domain.work_item import ItemStatus
from whilly.ports.delivery.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whilly.domain.ids import ItemId, PlanId
    from whilly.domain.work_item import WorkItem


@final
class MemoryParts(Parts):
    """Holds what was added.

    Attributes:
        statuses: where parts stand; one that is absent is pending.
        spent: what all of it has cost.
    """

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._added: dict[tuple[PlanId, ItemId], WorkItem] = {}
        self.statuses: dict[ItemId, ItemStatus] = {}
        self.spent = Spent()

    @override
    def take_apart(self, item: WorkItem, proposal: str, spent: Decimal = Decimal(0)) -> tuple[WorkItem, ...] | str:
        found = decompose(item, proposal, self._bounds.less(spent))
        return found.items or render_problems(found.problems)

    @override
    def describe_bounds(self) -> Mapping[str, tuple[str, ...]]:
        return describe_bounds(self._bounds)

    @override
    async def add(self, plan: PlanId, parts: Sequence[WorkItem]) -> None:
        for part in parts:
            self._added.setdefault((plan, part.id), part)

    @override
    async def find(self, plan: PlanId, whole: ItemId) -> Sequence[Part]:
        found = [item for (of, _), item in self._added.items() if of == plan and item.parent == whole]
        return [Part(item, self.statuses.get(item.id, ItemStatus.PENDING)) for item in found]

    @override
    async def count_spent(self, plan: PlanId) -> Spent:
        return self.spent
