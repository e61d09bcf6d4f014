"""Parts in memory and in the ledger; and what an engine that is at work makes of them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.memory.parts import MemoryParts
from whilly.bootstrap.parts import LedgerParts
from whilly.domain.flow.plan_run import Limits
from whilly.domain.ids import ItemId
from whilly.domain.planning.parts import divide
from whilly.testing.contracts.delivery.parts import PLAN, WHOLE, PartsContract
from whilly.testing.office import PLAN as SHOP
from whilly.testing.world import hang, item

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from whilly.domain.work_item import WorkItem
    from whilly.ports.delivery.parts import Parts
    from whilly.testing.office import Office
    from whilly.testing.world import World


class TestMemory(PartsContract):
    @pytest.fixture
    def parts(self) -> Parts:
        return MemoryParts()


class TestLedger(PartsContract):
    @pytest.fixture
    async def parts(self, office: Office) -> AsyncIterator[Parts]:
        office.import_items(WHOLE, plan=PLAN)
        yield LedgerParts(lambda: office.planning, lambda: office.records.reading)
        await asyncio.get_running_loop().shutdown_default_executor()


def halves(whole: WorkItem) -> tuple[WorkItem, ...]:
    """Two parts of an item that claim the same file as it does, one after the other."""
    first, second = f"{whole.id}a", f"{whole.id}b"
    return divide(whole, [item(first, files=("a",)), item(second, first, files=("a",))], ())


def test_parts_of_what_is_under_way_begin_although_it_claims_the_same(office: Office, world: World) -> None:
    world.scripts["A", 1] = hang
    whole = item("A", files=("a",))
    office.import_items(whole)
    office.begin()
    office.wait_for_session("A")
    office.planning.add_parts(SHOP, halves(whole))
    office.wait(lambda: office.records.statuses() == {"A": "in_progress", "Aa": "done", "Ab": "done"})
    assert [each.item for each in world.scenes] == ["A", "Aa", "Ab"]


def test_parts_survive_a_restart_and_are_begun_once(open_office: Callable[..., Office], world: World) -> None:
    world.scripts["A", 1] = hang
    whole = item("A")
    office = open_office(Limits(parallel=1))
    office.import_items(whole)
    office.begin()
    office.wait_for_session("A")
    office.planning.add_parts(SHOP, halves(whole))
    office.planning.add_parts(SHOP, halves(whole))
    office = open_office(Limits(parallel=3))
    office.begin()
    office.wait(
        lambda: {"Aa", "Ab"} <= {name for name, status in office.records.statuses().items() if status == "done"}
    )
    assert sorted(each.item for each in world.scenes) == ["A", "Aa", "Ab"]
    assert world.integrated() == ["Aa", "Ab"]


def test_who_cancels_the_whole_cancels_what_is_left_of_its_parts(office: Office, world: World) -> None:
    world.scripts["A", 1] = world.scripts["Aa", 1] = hang
    whole = item("A")
    office.import_items(whole)
    office.begin()
    office.wait_for_session("A")
    office.planning.add_parts(SHOP, halves(whole))
    office.wait_for_session("Aa")
    assert office.ledger.cancel(SHOP, ItemId("A"), "ada") == ""
    office.finish()
    assert office.records.statuses() == dict.fromkeys(["A", "Aa", "Ab"], "skipped")
    assert office.records.reason("Ab") == "cancelled by ada: A was cancelled"
