"""Which items of a plan to start next.

Theory of operation. An item is *ready* when it is pending and all its dependencies are done. A ready item may start
when its claims meet none of those that running items hold. The frontier starts the most urgent such item whenever a
slot is free, so no slot idles while anything could use it, and there are no batches to wait for.

The cost of a whole run grows with n log n, because ready items are never searched; they lie in two kinds of queue:

- A *lane* holds the ready items that claim exactly the same paths, most urgent first; what keeps one waiting keeps all.
- A *pen* holds the lanes that were found behind the same obstacle. It stays shut, untouched, while the obstacle stands,
  and opens when the obstacle goes.

`_open` orders the lanes that have not been found behind an obstacle and the pens whose obstacle has gone, by their most
urgent item. Taking from it is lazy: a lane that turns out to be blocked moves to a pen, a pen that is shut again is
dropped until it opens, an entry that a later one has overtaken is skipped. Entries are never more than arrivals.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, final

from whilly.domain.errors import RuleViolation
from whilly.domain.schedule.holdings import Holdings, Obstacle
from whilly.domain.schedule.reasons import SAID, Blocked, Wait, WaitsForFiles, WaitsForItem, WaitsForSlot
from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from whilly.domain.ids import ItemId
    from whilly.domain.work_item import WorkItem

_OPEN_STATUSES: Final = (ItemStatus.PENDING, ItemStatus.IN_PROGRESS)


@dataclass(slots=True, eq=False)
class _Lane:
    """Ready items with the same claims; a place is an item's position in the order of work."""

    number: int
    claims: tuple[str, ...]
    places: list[int] = field(default_factory=list)
    entered_at: int | None = None


@dataclass(slots=True, eq=False)
class _Pen:
    """Lanes behind the same obstacle."""

    number: int
    obstacle: Obstacle
    lanes: list[tuple[int, int, _Lane]] = field(default_factory=list)


@final
class Frontier:
    """The items of a plan between "not yet" and "over", and which of them to start.

    Args:
        items: the items of a valid plan, in its order.
        statuses: where they stand; absent is pending. `in_progress` counts as running and holds its claims, all others
            but pending are final: who wants to retry an item passes it as pending, with those it had blocked.
    """

    def __init__(self, items: Iterable[WorkItem], statuses: Mapping[ItemId, ItemStatus]) -> None:
        given = tuple(items)
        self._order = sorted(given, key=lambda item: item.priority.rank)
        self._places = {item.id: place for place, item in enumerate(self._order)}
        self._statuses = {item.id: statuses.get(item.id, ItemStatus.PENDING) for item in given}
        # What is divided works through its parts, whose claims are its own.
        self._divided = frozenset(item.parent for item in given if item.parent)
        self._running: dict[ItemId, None] = {}
        self._blocked: dict[ItemId, str] = {}
        self._unmet: dict[ItemId, int] = {}
        self._dependants: defaultdict[ItemId, list[ItemId]] = defaultdict(list)
        self._holdings = Holdings()
        self._lanes: dict[tuple[str, ...], _Lane] = {}
        self._pens: dict[Obstacle, _Pen] = {}
        self._open: list[tuple[int, int, _Lane | _Pen]] = []
        self._numbers = count()
        self._ready: set[ItemId] = set()
        for item in given:
            self._count_dependencies(item)
        for item in given:
            if self._statuses[item.id] is ItemStatus.IN_PROGRESS:
                self._run(item)
        for item in given:
            if self._statuses[item.id] is ItemStatus.PENDING:
                self._admit(item)

    @property
    def statuses(self) -> Mapping[ItemId, ItemStatus]:
        """Where every item stands, in the order of the plan."""
        return MappingProxyType(self._statuses)

    @property
    def running(self) -> tuple[ItemId, ...]:
        """The running items, longest running first."""
        return tuple(self._running)

    @property
    def blocked(self) -> tuple[Blocked, ...]:
        """The items that this frontier has found blocked so far, also those it was built with, in order of finding."""
        return tuple(Blocked(item, reason) for item, reason in self._blocked.items())

    @property
    def is_finished(self) -> bool:
        """Whether nothing is running and nothing can ever start any more."""
        return not self._running and not self._ready

    def pipeline_of(self, item_id: ItemId) -> str:
        """The pipeline that an item asks for; empty is the plan's."""
        return self._item(item_id).pipeline

    def start(self, free_slots: int) -> list[ItemId]:
        """The items to start now, most urgent first; from here on they count as running.

        Afterwards either all the slots are taken or no ready item has claims that are free.
        """
        started: list[ItemId] = []
        while len(started) < free_slots and (item := self._take()):
            self._ready.discard(item.id)
            self._run(item)
            started.append(item.id)
        return started

    def finish(self, item_id: ItemId, status: ItemStatus) -> list[Blocked]:
        """Record how a running or pending item ended.

        Returns:
            the items that are blocked by this, directly or through others, nearest first.

        Raises:
            RuleViolation: the item has ended differently before, or the status is not an end.
        """
        before = self._statuses[item_id]
        if status in _OPEN_STATUSES or before not in {*_OPEN_STATUSES, status}:
            message = f"{item_id}, which {SAID[before]}, cannot end as {status.value}"
            raise RuleViolation(message)
        if before is status:
            return []
        self._stop(item_id, status)
        if status is not ItemStatus.DONE:
            return self._block_dependants(item_id)
        for dependant in self._dependants[item_id]:
            self._unmet[dependant] -= 1
            self._queue_when_ready(self._item(dependant))
        return []

    def release(self, item_id: ItemId) -> None:
        """Make a running item pending again: its attempt was interrupted and has to be started anew.

        Raises:
            RuleViolation: the item is not running.
        """
        if item_id not in self._running:
            message = f"{item_id}, which {SAID[self._statuses[item_id]]}, cannot be released: it is not running"
            raise RuleViolation(message)
        self._stop(item_id, ItemStatus.PENDING)
        self._admit(self._item(item_id))

    def waiting(self) -> dict[ItemId, Wait]:
        """What every pending item waits for first, in the order of work; to be asked after `start`."""
        pending = (item for item in self._order if self._statuses[item.id] is ItemStatus.PENDING)
        return {item.id: self._wait(item) for item in pending}

    def _wait(self, item: WorkItem) -> Wait:
        for dependency in item.dependencies:
            if (status := self._statuses[dependency]) is not ItemStatus.DONE:
                return WaitsForItem(dependency, status)
        if obstacle := self._holdings.obstacle(item.key_files):
            return WaitsForFiles(*self._holdings.holder(obstacle))
        return WaitsForSlot()

    def _item(self, item_id: ItemId) -> WorkItem:
        return self._order[self._places[item_id]]

    def _count_dependencies(self, item: WorkItem) -> None:
        unmet = [each for each in dict.fromkeys(item.dependencies) if self._statuses[each] is not ItemStatus.DONE]
        self._unmet[item.id] = len(unmet)
        for dependency in unmet:
            self._dependants[dependency].append(item.id)

    def _run(self, item: WorkItem) -> None:
        self._statuses[item.id] = ItemStatus.IN_PROGRESS
        self._running[item.id] = None
        self._holdings.hold(item.id, self._claims(item))

    def _claims(self, item: WorkItem) -> tuple[str, ...]:
        return () if item.id in self._divided else item.key_files

    def _stop(self, item_id: ItemId, status: ItemStatus) -> None:
        self._statuses[item_id] = status
        self._ready.discard(item_id)
        if item_id in self._running:
            del self._running[item_id]
            for obstacle in self._holdings.release(item_id, self._claims(self._item(item_id))):
                if pen := self._pens.get(obstacle):
                    self._open_pen(pen)

    def _admit(self, item: WorkItem) -> None:
        """Queue a pending item when it is ready, block it when it can never be."""
        self._queue_when_ready(item)
        for dependency in item.dependencies:
            if self._statuses[dependency] not in {*_OPEN_STATUSES, ItemStatus.DONE}:
                self._block_dependants(dependency)

    def _block_dependants(self, cause: ItemId) -> list[Blocked]:
        """Block what depends on an item that ended badly, breadth first."""
        found: list[Blocked] = []
        said = SAID[self._statuses[cause]]
        parents = deque([cause])
        while parents:
            parent = parents.popleft()
            why = f"which {said}" if parent == cause else f"which is blocked: {cause} {said}"
            reason = f"depends on {parent}, {why}"
            for dependant in self._dependants[parent]:
                if self._statuses[dependant] is ItemStatus.PENDING:
                    self._statuses[dependant] = ItemStatus.BLOCKED
                    self._blocked[dependant] = reason
                    found.append(Blocked(dependant, reason))
                    parents.append(dependant)
        return found

    def _queue_when_ready(self, item: WorkItem) -> None:
        if self._unmet[item.id] or self._statuses[item.id] is not ItemStatus.PENDING:
            return
        self._ready.add(item.id)
        place = self._places[item.id]
        lane = self._lanes.get(item.key_files)
        if lane is None:
            lane = self._lanes[item.key_files] = _Lane(next(self._numbers), item.key_files)
        heappush(lane.places, place)
        if lane.entered_at is None or place < lane.entered_at:
            self._enter(lane)

    def _enter(self, lane: _Lane) -> None:
        lane.entered_at = lane.places[0] if lane.places else None
        if lane.entered_at is not None:
            heappush(self._open, (lane.entered_at, lane.number, lane))

    def _open_pen(self, pen: _Pen) -> None:
        if pen.lanes:
            heappush(self._open, (pen.lanes[0][0], pen.number, pen))

    def _take(self) -> WorkItem | None:
        """The most urgent item that can start, taken out of its lane."""
        while self._open:
            place, _, queue = heappop(self._open)
            if isinstance(queue, _Pen):
                self._let_out(queue)
            elif queue.entered_at == place and (item := self._leave(queue)):
                return item
        return None

    def _let_out(self, pen: _Pen) -> None:
        if pen.lanes and not self._holdings.stands(pen.obstacle):
            heappush(self._open, heappop(pen.lanes))
            self._open_pen(pen)

    def _leave(self, lane: _Lane) -> WorkItem | None:
        """Take the first item out of a lane, or move the lane to where it has to wait."""
        item = self._order[lane.places[0]]
        if item.id not in self._ready:
            heappop(lane.places)
            self._enter(lane)
            return None
        if obstacle := self._holdings.obstacle(lane.claims):
            pen = self._pens.get(obstacle)
            if pen is None:
                pen = self._pens[obstacle] = _Pen(next(self._numbers), obstacle)
            heappush(pen.lanes, (lane.places[0], lane.number, lane))
            return None
        heappop(lane.places)
        self._enter(lane)
        return item
