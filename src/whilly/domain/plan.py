"""A plan: work items with dependencies, claims on files and priorities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from whilly.domain.ids import ItemId, PlanId
from whilly.domain.work_item import ItemStatus, WorkItem


@dataclass(frozen=True, slots=True)
class Plan:
    """A valid plan: ids are unique, dependencies exist, there is no cycle.

    Attributes:
        name: the plan's `project`, or its file's stem.
        slug: `name` fit for a branch: lower-case ASCII, digits and `-`, at most 48 characters.
        source: the file that it came from, absolute.
        items: in the order of the file.
        statuses: the statuses that the file gave; they count only when the plan is first imported.
        instructions: the plan's `agent_instructions`, by moment (`before_start`, `during_work`, `before_finish`).
    """

    id: PlanId
    name: str
    slug: str
    source: str
    items: tuple[WorkItem, ...]
    statuses: Mapping[ItemId, ItemStatus] = field(default_factory=dict)
    instructions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def item(self, item_id: ItemId) -> WorkItem:
        """The item with this id.

        Raises:
            KeyError: there is none.
        """
        for item in self.items:
            if item.id == item_id:
                return item
        raise KeyError(item_id)
