"""Usage limits are a fact about an account, and no failure of any task."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from whilly.domain.attempt import Outcome
from whilly.domain.flow.plan_run import Limits
from whilly.domain.flow.run import Phase
from whilly.testing.world import Scene, World, hang, item, say, work

if TYPE_CHECKING:
    from collections.abc import Callable

    from whilly.adapters.memory.sessions import Play
    from whilly.testing.office import Office

HOUR = timedelta(hours=1)


def test_one_limit_parks_the_account_for_all_its_tasks_and_each_session_goes_on_at_the_reset(
    open_office: Callable[..., Office], world: World
) -> None:
    reset = (world.clock.now() + HOUR).isoformat()

    def meet_the_limit(scene: Scene) -> Play:
        return say(Outcome.LIMITED, "limit", session=f"talk-{scene.item}", retry_at=reset, cost="0")

    world.scripts["A", 1] = meet_the_limit
    office = open_office(Limits(parallel=1))
    office.import_items(item("A"), item("B"), item("C"))
    office.begin()
    # B was never started; it waits for the account, and gives its slot to C, which waits too.
    office.wait(lambda: {"A", "B", "C"} <= office.engine.live.holds.keys())
    assert [scene.item for scene in world.scenes] == ["A"]
    waits = {name: office.records.run(name).wait for name in "ABC"}
    assert {wait.until.isoformat() if wait and wait.until else "" for wait in waits.values()} == {reset}
    assert {wait.whom if wait else "" for wait in waits.values()} == {"agent:demo"}
    assert waits["B"] is not None
    assert waits["B"].reason == "its account is limited: demo: limit"
    world.clock.advance(HOUR)
    office.finish()
    assert set(office.records.statuses().values()) == {"done"}
    assert [scene.launch.argv.count("talk-A") for scene in world.scenes if scene.item == "A"] == [0, 1]
    assert [event["until"] for event in office.records.events("account_limited")] == [str(world.clock.now())]
    assert len(office.records.events("account_works_again")) == 1


def test_a_limit_for_ever_parks_the_account_and_fails_nothing(open_office: Callable[..., Office], world: World) -> None:
    end = world.clock.now() + 37 * HOUR

    def refuse(scene: Scene) -> Play:
        return say(Outcome.LIMITED, "429", cost="0") if world.clock.now() < end else work(scene)

    world.default = refuse
    office = open_office(Limits(parallel=2))
    office.import_items(item("A"), item("B"))
    office.begin()
    for _ in range(37 * 4 + 4):
        office.wait(lambda: {office.records.run(name).phase for name in "AB"} <= {Phase.WAITING, Phase.ENDED})
        world.clock.advance(timedelta(minutes=15))
    office.finish()
    assert set(office.records.statuses().values()) == {"done"}
    assert len(world.scenes) < 100


def test_another_agent_takes_over_with_a_conversation_of_its_own(
    open_office: Callable[..., Office], world: World
) -> None:
    world.agents = ("demo", "other")
    reset = (world.clock.now() + HOUR).isoformat()
    world.scripts["A", 1] = lambda _scene: say(Outcome.LIMITED, "limit", session="talk", retry_at=reset, cost="0")
    office = open_office(Limits(parallel=1))
    office.import_items(item("A"), item("B"), replace(item("C"), agent="demo"))
    office.begin()
    office.wait(lambda: office.records.statuses()["B"] == "done")
    assert sorted((row.item, row.agent) for row in office.records.attempts() if row.agent) == [
        ("A", "demo"),
        ("A", "other"),
        ("B", "other"),
    ]
    # Whoever named an agent waits for that one.
    assert office.records.statuses()["C"] == "in_progress"
    assert "talk" not in world.scenes[1].launch.argv
    world.clock.advance(HOUR)
    office.finish()
    assert set(office.records.statuses().values()) == {"done"}
    assert [row.agent for row in office.records.attempts("C") if row.agent] == ["demo"]


def test_a_limited_account_gives_its_slot_to_others(open_office: Callable[..., Office], world: World) -> None:
    world.agents = ("demo", "other")
    reset = (world.clock.now() + HOUR).isoformat()
    world.scripts["A", 1] = lambda _scene: say(Outcome.LIMITED, "limit", retry_at=reset, cost="0")
    world.scripts["B", 1] = hang
    office = open_office(Limits(parallel=1))
    office.import_items(replace(item("A"), agent="demo"), replace(item("B"), agent="other"))
    office.begin()
    office.wait_for_session("B")
    assert office.records.story("A") == ["execute limited"]
