from __future__ import annotations

from itertools import combinations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from typing_extensions import override

from whilly.domain.claims import overlaps
from whilly.domain.ids import ItemId
from whilly.domain.schedule import Frontier, WaitsForFiles, WaitsForItem, WaitsForSlot
from whilly.domain.work_item import ItemStatus, Priority, WorkItem

CLAIMS = (
    "src",
    "src/app",
    "src/app/a.py",
    "src/app/b.py",
    "src/*.py",
    "src/x.py",
    "**/*.py",
    "docs",
    "docs/[ab].md",
    "docs/a.md",
    "docs/[id]/c.md",
    ".",
)
ENDS = [ItemStatus.DONE] * 4 + [ItemStatus.FAILED, ItemStatus.SKIPPED, ItemStatus.BLOCKED, ItemStatus.HUMAN_LOOP]
OPEN = {ItemStatus.PENDING, ItemStatus.IN_PROGRESS}


@st.composite
def plans(draw: st.DrawFn) -> list[WorkItem]:
    """Plans without cycles, whose order is not the order of their dependencies."""
    size = draw(st.sampled_from([12, 8, 5, 3, 2, 1]))
    ids = [ItemId(f"T-{number}") for number in range(size)]
    items = [
        WorkItem(
            ids[number],
            "a task",
            priority=draw(st.sampled_from(list(Priority))),
            dependencies=tuple(draw(st.lists(st.sampled_from(ids[:number]), max_size=2)))
            if number and draw(st.booleans())
            else (),
            key_files=tuple(draw(st.lists(st.sampled_from(CLAIMS), max_size=3))),
        )
        for number in range(size)
    ]
    return draw(st.permutations(items))


class PlansOfAnyShape(RuleBasedStateMachine):
    """Plays plans in any order of events, beside a reference that looks at every item every time."""

    @initialize(
        items=plans(),
        slots=st.sampled_from([3, 2, 5, 1]),
        ends=st.lists(st.sampled_from([ItemStatus.PENDING] * 40 + ENDS), min_size=12, max_size=12),
    )
    def build(self, items: list[WorkItem], slots: int, ends: list[ItemStatus]) -> None:
        self.items = {item.id: item for item in items}
        self.order = sorted(items, key=lambda item: (item.priority.rank, items.index(item)))
        self.slots = slots
        given = {item.id: end for item, end in zip(items, ends, strict=False) if end is not ItemStatus.PENDING}
        self.frontier = Frontier(items, given)

    def has(self, item: ItemId, *statuses: ItemStatus) -> bool:
        return self.frontier.statuses[item] in statuses

    def is_ready(self, item: WorkItem) -> bool:
        return self.has(item.id, ItemStatus.PENDING) and all(
            self.has(each, ItemStatus.DONE) for each in item.dependencies
        )

    def collide(self, a: ItemId, b: ItemId) -> bool:
        return any(overlaps(x, y) for x in self.items[a].key_files for y in self.items[b].key_files)

    def reference_start(self) -> list[ItemId]:
        running = list(self.frontier.running)
        expected: list[ItemId] = []
        for item in self.order:
            taken = [*running, *expected]
            is_free = not any(self.collide(item.id, each) for each in taken)
            if len(taken) < self.slots and is_free and self.is_ready(item):
                expected.append(item.id)
        return expected

    @precondition(lambda self: not self.frontier.is_finished)
    @rule()
    def start(self) -> None:
        expected = self.reference_start()
        assert self.frontier.start(self.slots - len(self.frontier.running)) == expected

    @precondition(lambda self: self.frontier.running)
    @rule(data=st.data(), end=st.sampled_from(ENDS))
    def finish(self, data: st.DataObject, end: ItemStatus) -> None:
        self.end(data.draw(st.sampled_from(self.frontier.running)), end)

    @rule(data=st.data(), end=st.sampled_from(ENDS))
    def finish_what_has_not_started(self, data: st.DataObject, end: ItemStatus) -> None:
        pending = [item for item in self.items if self.has(item, ItemStatus.PENDING)]
        if pending:
            self.end(data.draw(st.sampled_from(pending)), end)

    def end(self, item: ItemId, status: ItemStatus) -> None:
        before = dict(self.frontier.statuses)
        found = [each.item for each in self.frontier.finish(item, status)]
        changed = {each for each, now in self.frontier.statuses.items() if now is not before[each]}
        assert sorted([item, *found]) == sorted(changed)
        assert all(self.has(each, ItemStatus.BLOCKED) for each in found)
        assert not found or status is not ItemStatus.DONE
        assert self.frontier.finish(item, status) == []

    @precondition(lambda self: self.frontier.running)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        item = data.draw(st.sampled_from(self.frontier.running))
        self.frontier.release(item)
        assert self.has(item, ItemStatus.PENDING)

    @rule()
    def restart(self) -> None:
        self.frontier = Frontier(self.items.values(), self.frontier.statuses)

    @invariant()
    def running_items_share_no_files_and_have_slots(self) -> None:
        assert not any(self.collide(a, b) for a, b in combinations(self.frontier.running, 2))
        assert len(self.frontier.running) <= self.slots

    @invariant()
    def nothing_runs_before_its_dependencies_are_done(self) -> None:
        for item in self.frontier.running:
            assert all(self.has(each, ItemStatus.DONE) for each in self.items[item].dependencies)

    @invariant()
    def what_can_never_start_is_blocked_and_nothing_else_is(self) -> None:
        for item in self.items.values():
            dead = [each for each in item.dependencies if not self.has(each, ItemStatus.DONE, *OPEN)]
            assert not (dead and self.has(item.id, ItemStatus.PENDING))
        for found in self.frontier.blocked:
            assert set(found.reason.replace(",", " ").split()) & set(self.items[found.item].dependencies)

    @invariant()
    def every_pending_item_says_what_it_waits_for(self) -> None:
        waiting = self.frontier.waiting()
        assert list(waiting) == [item.id for item in self.order if self.has(item.id, ItemStatus.PENDING)]
        for waiter, wait in waiting.items():
            match wait:
                case WaitsForItem(dependency, status):
                    assert dependency in self.items[waiter].dependencies
                    assert status in OPEN
                    assert self.has(dependency, status)
                case WaitsForFiles(holder, held):
                    assert self.is_ready(self.items[waiter])
                    assert self.has(holder, ItemStatus.IN_PROGRESS)
                    assert held in self.items[holder].key_files
                    assert any(overlaps(held, claim) for claim in self.items[waiter].key_files)
                case WaitsForSlot():
                    assert self.is_ready(self.items[waiter])
                    assert not any(self.collide(waiter, each) for each in self.frontier.running)

    @override
    def teardown(self) -> None:
        if not hasattr(self, "frontier"):
            return
        for _ in self.items:
            self.start()
            if self.frontier.is_finished:
                break
            self.end(self.frontier.running[0], ItemStatus.DONE)
        assert self.frontier.is_finished
        assert not any(self.has(item, *OPEN) for item in self.items)


TestPlansOfAnyShape = PlansOfAnyShape.TestCase
TestPlansOfAnyShape.settings = settings(max_examples=300, stateful_step_count=20, deadline=None)
