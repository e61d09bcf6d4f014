"""Parts of an item in the ledger, and what they may be."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.planfile.decompose import Bounds, PlanDivider
from whilly.domain.planning.parts import Part, Spent
from whilly.engine.driving.patience import patiently
from whilly.ports.delivery.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from whilly.application.telling.rows import ItemRow
    from whilly.bootstrap.project import Project
    from whilly.domain.ids import CommitId, ItemId, PlanId
    from whilly.domain.work_item import WorkItem
    from whilly.engine.planning import Planning
    from whilly.engine.reading import Reading


def open_divider(project: Project) -> PlanDivider:
    """What takes items apart within the bounds of the project's settings."""
    settings = project.settings
    commands = frozenset(each.run for each in settings.profile.profile().verify)
    bounds = Bounds(
        max_tasks=settings.issues.max_parts, max_cost_usd=settings.run.budget_usd or None, commands=commands
    )
    return PlanDivider(bounds)


@final
class LedgerParts(Parts):
    """Items of the plan that is worked on.

    Args:
        planning: gives what changes plans, when it is needed.
        reading: gives the ledger.
    """

    def __init__(self, planning: Callable[[], Planning], reading: Callable[[], Reading]) -> None:
        self._planning, self._reading = planning, reading

    @override
    async def add(self, plan: PlanId, parts: Sequence[WorkItem]) -> None:
        await patiently(self._planning().add_parts, plan, parts)

    @override
    async def find(self, plan: PlanId, whole: ItemId) -> Sequence[Part]:
        return await patiently(self._find, plan, whole)

    def _find(self, plan: PlanId, whole: ItemId) -> Sequence[Part]:
        rows = [row for row in self._reading().items(plan) if row.item.parent == whole]
        return [Part(row.item, row.status, row.reason, _find_commit(row)) for row in rows]

    @override
    async def count_spent(self, plan: PlanId) -> Spent:
        attempts = await patiently(self._reading().attempts, plan)
        cost = sum((each.cost for each in attempts if each.cost is not None), Decimal(0))
        return Spent(cost, sum(bool(each.agent) for each in attempts))


def _find_commit(row: ItemRow) -> CommitId | None:
    return row.run.ending.commit if row.run is not None and row.run.ending is not None else None
