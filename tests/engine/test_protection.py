"""The machine is protected: fewer agents start while something is short, and nothing else follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.application.attempt_context import Rules
from whilly.domain.flow.plan_run import Limits
from whilly.domain.machine import GIB, Gauge, Thresholds
from whilly.domain.session import Exit
from whilly.testing.world import World, hang, item

if TYPE_CHECKING:
    from collections.abc import Callable

    from whilly.testing.office import Office

WANTED = Thresholds(max_cpu=0.9, max_memory=0.9, min_disk=GIB)
FINE = Gauge(cpu=0.1, memory=0.1, memory_size=GIB, disk_free=9 * GIB)


def test_agents_wait_while_memory_is_short_and_checks_do_not(open_office: Callable[..., Office], world: World) -> None:
    world.rules = Rules(machine=WANTED)
    world.machine.gauge = FINE
    world.scripts["A", 1] = hang
    office = open_office(Limits(parallel=2))
    office.import_items(item("A", steps=("true",)), item("B"), item("C"))
    office.begin()
    office.wait_for_session("A")
    world.machine.gauge = Gauge(memory=0.95, memory_size=GIB)
    office.wait(lambda: any("memory is short" in each for each in office.engine.live.holds.values()))
    begun = len(world.scenes)
    # What is at work goes on, and what it has done is checked and integrated.
    assert office.engine.live.attempts
    world.sessions.finish(office.records.home("A", 1), Exit(code=0))
    office.wait(lambda: office.records.statuses()["A"] == "done")
    assert len(world.scenes) == begun
    world.machine.gauge = FINE
    office.finish()
    assert set(office.records.statuses().values()) == {"done"}


def test_busy_processors_let_one_agent_work(open_office: Callable[..., Office], world: World) -> None:
    world.rules = Rules(machine=WANTED)
    world.machine.gauge = Gauge(cpu=1.0)
    world.default = hang
    office = open_office(Limits(parallel=2))
    office.import_items(item("A"), item("B"))
    office.begin()
    office.wait(lambda: world.scenes)
    office.wait(lambda: any("processors are busy" in each for each in office.engine.live.holds.values()))
    assert len(world.scenes) == 1
    assert not any(office.engine.live.holds.get(each.item) for each in world.scenes)
    world.machine.gauge = FINE
    office.wait(lambda: len(world.scenes) == 2)
    for scene in world.scenes:
        world.sessions.finish(office.records.home(scene.item, 1), Exit(code=0))
    office.finish()
    assert set(office.records.statuses().values()) == {"done"}
