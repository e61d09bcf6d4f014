"""Parts of an item in the ledger, as agents propose them."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.planfile.decompose import Bounds, decompose, describe_bounds, render_problems
from whilly.domain.planning.parts import Part, Spent
from whilly.engine.driving.patience import patiently
from whilly.ports.delivery.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from whilly.application.telling.rows import ItemRow
    from whilly.bootstrap.project import Project
    from whilly.domain.ids import CommitId, ItemId, PlanId
    from whilly.domain.work_item import WorkItem
    from whilly.engine.planning import Planning
    from whilly.engine.reading import Reading


def open_parts(project: Project) -> LedgerParts:
    """Parts in the project's ledger, within the bounds of its settings."""
    settings = project.settings
    commands = frozenset(each.run for each in settings.profile.profile().verify)
    bounds = Bounds(
        max_tasks=settings.issues.max_parts, max_cost_usd=settings.run.budget_usd or None, commands=commands
    )
    return LedgerParts(project.planning, lambda: project.reading, bounds)


@final
class LedgerParts(Parts):
    """Items of the plan that is worked on.

    Args:
        planning: gives what changes plans, when it is needed.
        reading: gives the ledger.
        bounds: how far an item may be taken apart.
    """

    def __init__(self, planning: Callable[[], Planning], reading: Callable[[], Reading], bounds: Bounds) -> None:
        self._planning, self._reading, self._bounds = planning, reading, bounds

    @override
    def take_apart(self, item: WorkItem, proposal: str, spent: Decimal = Decimal(0)) -> tuple[WorkItem, ...] | str:
        found = decompose(item, proposal, self._bounds.less(spent))
        return found.items or render_problems(found.problems)

    @override
    def describe_bounds(self) -> Mapping[str, tuple[str, ...]]:
        return describe_bounds(self._bounds)

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
