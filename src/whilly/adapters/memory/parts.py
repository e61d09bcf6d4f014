"""MemoryParts: parts in a list, which a test may set to where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.domain.planning.parts import Part, Spent
from whilly.domain.work_item import ItemStatus
from whilly.ports.delivery.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whilly.domain.ids import ItemId, PlanId
    from whilly.domain.work_item import WorkItem


@final
class MemoryParts(Parts):
    """Holds what was added.

    Attributes:
        statuses: where parts stand; one that is absent is pending.
        spent: what all of it has cost.
    """

    def __init__(self) -> None:
        self._added: dict[tuple[PlanId, ItemId], WorkItem] = {}
        self.statuses: dict[ItemId, ItemStatus] = {}
        self.spent = Spent()

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
