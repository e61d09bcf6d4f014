"""Why an item does not start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from typing_extensions import override

from whilly.domain.ids import ItemId
from whilly.domain.work_item import ItemStatus

SAID: Final = {
    ItemStatus.PENDING: "is pending",
    ItemStatus.IN_PROGRESS: "is running",
    ItemStatus.DONE: "is done",
    ItemStatus.FAILED: "failed",
    ItemStatus.SKIPPED: "was skipped",
    ItemStatus.BLOCKED: "is blocked",
    ItemStatus.HUMAN_LOOP: "waits for a person",
}
"""Statuses as predicates: "TASK-1 failed"."""


class Blocked(NamedTuple):
    """An item that can no longer start, because of what became of a dependency."""

    item: ItemId
    reason: str


@dataclass(frozen=True, slots=True)
class WaitsForItem:
    """A dependency is not done yet."""

    dependency: ItemId
    status: ItemStatus

    @override
    def __str__(self) -> str:
        return f"depends on {self.dependency}, which {SAID[self.status]}"


@dataclass(frozen=True, slots=True)
class WaitsForFiles:
    """A running item holds files that this one claims."""

    holder: ItemId
    held: str

    @override
    def __str__(self) -> str:
        return f"files overlap with {self.holder}, which is running and holds `{self.held}`"


@dataclass(frozen=True, slots=True)
class WaitsForSlot:
    """Nothing but a free slot is missing."""

    @override
    def __str__(self) -> str:
        return "no free slot"


Wait: TypeAlias = WaitsForItem | WaitsForFiles | WaitsForSlot
