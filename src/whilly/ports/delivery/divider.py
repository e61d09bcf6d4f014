"""Divider: what an agent proposes to take a large item apart into."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.work_item import WorkItem


class Divider(Protocol):
    """Reads proposals, within bounds."""

    def take_apart(self, item: WorkItem, proposal: str, spent: Decimal = Decimal(0)) -> tuple[WorkItem, ...] | str:
        """The parts that a proposal names, wired and within the bounds; otherwise everything that is wrong with it.

        Args:
            item: the whole.
            proposal: a plan in JSON, `{"tasks": […]}`.
            spent: USD of the budget that are spent already.
        """
        ...

    def describe_bounds(self) -> Mapping[str, tuple[str, ...]]:
        """The bounds, for whoever is asked to take an item apart: `max_parts`, and `budget` in USD if there is one."""
        ...
