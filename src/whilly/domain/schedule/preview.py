"""What a run would do, without doing it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whilly.domain.ids import ItemId
from whilly.domain.schedule.frontier import Frontier
from whilly.domain.schedule.reasons import Blocked, Wait
from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from whilly.domain.plan import Plan


@dataclass(frozen=True, slots=True)
class Preview:
    """What a run would do if every item took equally long and succeeded.

    Attributes:
        waves: the items that would start together, most urgent first.
        waiting: why each of the others would not start in the first wave.
        blocked: the items that cannot start at all.
    """

    waves: tuple[tuple[ItemId, ...], ...]
    waiting: Mapping[ItemId, Wait]
    blocked: tuple[Blocked, ...]


def preview(plan: Plan, parallel: int, statuses: Mapping[ItemId, ItemStatus] | None = None) -> Preview:
    """Play the plan through with `parallel` slots.

    Args:
        plan: a valid plan.
        parallel: how many items may run at once; at least 1.
        statuses: where the items stand; the plan's own by default. What was running is taken up again.
    """
    given = plan.statuses if statuses is None else statuses
    reopened = {i: ItemStatus.PENDING if s is ItemStatus.IN_PROGRESS else s for i, s in given.items()}
    frontier = Frontier(plan.items, reopened)
    wave = tuple(frontier.start(parallel))
    waiting = frontier.waiting()
    waves: list[tuple[ItemId, ...]] = []
    while wave:
        waves.append(wave)
        for item in wave:
            frontier.finish(item, ItemStatus.DONE)
        wave = tuple(frontier.start(parallel))
    return Preview(tuple(waves), waiting, frontier.blocked)
