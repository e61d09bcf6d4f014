"""Whole plans through the engine, on both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.memory.sessions import Play
from whilly.domain.attempt import Outcome
from whilly.domain.errors import NotFound, Unavailable
from whilly.domain.flow.pipeline import Pipeline
from whilly.domain.flow.plan_run import Limits, PlanPhase, StopReason
from whilly.domain.session import Exit
from whilly.testing.world import MAIN, hang, item, say, work

if TYPE_CHECKING:
    from collections.abc import Callable

    from whilly.testing.office import Office
    from whilly.testing.world import Scene, World

ONCE = ["execute completed", "verify completed", "integrate completed"]
NO_GAPS = "attempts are numbered without gaps and each has one outcome"


def hold_invariants(office: Office) -> None:
    """What is true of every plan at rest, however it got there."""
    numbers: dict[str, list[int]] = {}
    for row in office.records.attempts():
        assert row.result is not None, f"{row.run}/{row.number} has no outcome"
        numbers.setdefault(row.run, []).append(row.number)
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values()), NO_GAPS
    assert office.records.state().phase is PlanPhase.IDLE
    integrated = office.world.integrated()
    done = {name for name, status in office.records.statuses().items() if status == "done"}
    assert sorted(integrated) == sorted(set(integrated))
    assert set(integrated) <= done


def test_every_item_is_done_checked_and_integrated_once(office: Office, world: World) -> None:
    office.import_items(item("A", steps=("test -f A.txt",)), item("B", "A"), item("C"))
    office.run()
    assert office.records.statuses() == {"A": "done", "B": "done", "C": "done"}
    assert sorted(world.integrated()) == ["A", "B", "C"]
    assert world.integrated().index("A") < world.integrated().index("B")
    assert set(world.files()) == {"README", "A.txt", "B.txt", "C.txt"}
    assert office.records.story("A") == ONCE
    hold_invariants(office)


def test_the_commit_says_what_it_came_from_and_what_it_cost(office: Office, world: World) -> None:
    world.scripts["A", 1] = lambda _scene: say(Outcome.CRASHED, cost="0.25")
    office.import_items(item("A"))
    office.run()
    run = office.records.attempts("A")[0].run
    assert world.log()[0].splitlines() == [
        "A: Do A",
        "",
        "Whilly-Item: A",
        f"Whilly-Run: {run}",
        f"Whilly-Attempt: {run}/4",
        "Whilly-Cost: $0.3500",
    ]


# What an agent may come to


def test_a_rejected_change_is_repaired_in_the_same_conversation(office: Office, world: World) -> None:
    world.scripts["A", 1] = lambda scene: _written(scene, "x.txt", "wrong\n", session="talk")
    world.scripts["A", 3] = lambda scene: _written(scene, "x.txt", "right\n")
    office.import_items(item("A", steps=("grep -q right x.txt",)))
    office.run()
    assert office.records.story("A") == [
        "execute completed",
        "verify rejected",
        "repair completed",
        "verify completed",
        "integrate completed",
    ]
    repair = world.scenes[1]
    assert "grep -q right x.txt" in repair.prompt
    assert "talk" in repair.launch.argv
    assert world.files()["x.txt"] == "right\n"
    hold_invariants(office)


def _written(scene: Scene, path: str, text: str, **said: str) -> Play:
    scene.files[path] = text
    return say(**said)  # type: ignore[arg-type]  # the caller knows the names


def test_the_same_failure_twice_ends_the_item_and_keeps_its_branch(office: Office, world: World) -> None:
    world.scripts["A", 3] = lambda scene: _written(scene, "other.txt", "no use\n")
    office.import_items(item("A", steps=("test -f missing.txt",)), item("B", "A"))
    office.run()
    assert office.records.statuses() == {"A": "failed", "B": "blocked"}
    assert "the same failure twice" in office.records.reason("A")
    assert office.records.reason("B") == "depends on A, which failed"
    assert world.integrated() == []
    assert "refs/heads/whilly/A" in world.history.refs
    hold_invariants(office)


def test_a_repair_that_changes_nothing_is_not_checked_again(office: Office, world: World) -> None:
    world.scripts["A", 3] = lambda _scene: say()
    office.import_items(item("A", steps=("test -f missing.txt",)))
    office.run()
    assert office.records.story("A") == ["execute completed", "verify rejected", "repair rejected"]
    assert "changed nothing" in office.records.reason("A")


@pytest.mark.parametrize(
    ("play", "outcome"),
    [
        (Play(b"", Exit(code=None, cause="lost")), Outcome.INTERRUPTED),
        (say(Outcome.CRASHED), Outcome.CRASHED),
        (say(Outcome.UNAVAILABLE), Outcome.UNAVAILABLE),
    ],
    ids=["lost", "crashed", "unavailable"],
)
def test_a_repair_may_have_been_done_by_an_attempt_that_came_to_no_end(
    office: Office, world: World, play: Play, outcome: Outcome
) -> None:
    world.scripts["A", 1] = lambda scene: _written(scene, "x.txt", "wrong\n")
    world.scripts["A", 3] = lambda scene: (_written(scene, "x.txt", "right\n"), play)[-1]
    world.scripts["A", 4] = lambda _scene: say()
    office.import_items(item("A", steps=("grep -q right x.txt",)))
    office.begin()
    office.wait(lambda: office.records.story("A")[2:3] == [f"repair {outcome}"])
    world.clock.advance(timedelta(minutes=1))
    office.finish()
    assert office.records.story("A") == [
        "execute completed",
        "verify rejected",
        f"repair {outcome}",
        "repair completed",
        "verify completed",
        "integrate completed",
    ]
    hold_invariants(office)


def test_an_agent_that_claims_completion_having_changed_nothing_is_not_believed(office: Office, world: World) -> None:
    world.default = lambda _scene: say()
    office.import_items(item("A"))
    office.run()
    assert office.records.story("A") == ["execute no_progress"] * 3
    assert office.records.reason("A") == "no_progress: it claims completion, but changed nothing"
    hold_invariants(office)


def test_a_conflict_goes_back_to_the_agent_and_is_resolved(office: Office, world: World) -> None:
    def write(scene: Scene) -> Play:
        return _written(scene, "shared.txt", f"{scene.item}\n")

    world.scripts["A", 1] = world.scripts["B", 1] = write
    for name in ("A", "B"):
        world.scripts[name, 4] = lambda scene: _written(scene, "shared.txt", "A and B\n")
    office.import_items(item("A"), item("B"))
    office.run()
    assert office.records.statuses() == {"A": "done", "B": "done"}
    stories = sorted([office.records.story("A"), office.records.story("B")], key=len)
    assert stories[1] == [
        "execute completed",
        "verify completed",
        "integrate conflict",
        "resolve completed",
        "verify completed",
        "integrate completed",
    ]
    assert world.files()["shared.txt"] == "A and B\n"
    hold_invariants(office)


def test_a_conflict_that_is_not_resolved_fails_and_keeps_the_branch(office: Office, world: World) -> None:
    world.default = lambda scene: _written(scene, "own.txt", scene.item) if scene.number > 3 else say()
    for name in ("A", "B"):
        world.scripts[name, 1] = lambda scene: _written(scene, "shared.txt", f"{scene.item}\n")
    office.import_items(item("A"), item("B"))
    office.run()
    assert sorted(office.records.statuses().values()) == ["done", "failed"]
    loser = next(name for name, status in office.records.statuses().items() if status == "failed")
    assert office.records.reason(loser).startswith("conflict after 2 tries to mend it")
    assert f"refs/heads/whilly/{loser}" in world.history.refs
    assert office.records.story(loser).count("resolve conflict") == 2
    hold_invariants(office)


def test_an_outage_is_waited_out_and_the_slot_given_to_others(open_office: Callable[..., Office], world: World) -> None:
    office = open_office(Limits(parallel=1))
    world.scripts["A", 1] = lambda _scene: say(Outcome.UNAVAILABLE, "overloaded", cost="0")
    office.import_items(item("A"), item("B"))
    office.begin()
    office.wait(lambda: office.records.statuses()["B"] == "done")
    assert office.records.statuses()["A"] == "in_progress"
    world.clock.advance(timedelta(seconds=4))
    assert office.records.story("A") == ["execute unavailable"]
    world.clock.advance(timedelta(seconds=4))
    office.finish()
    assert office.records.statuses()["A"] == "done"
    hold_invariants(office)


def test_who_has_waited_long_enough_comes_before_who_has_not_begun(
    open_office: Callable[..., Office], world: World
) -> None:
    office = open_office(Limits(parallel=1))
    world.scripts["A", 1] = lambda _scene: say(Outcome.UNAVAILABLE, "overloaded")
    world.scripts["B", 1] = hang
    office.import_items(item("A"), item("B"), item("C"))
    office.begin()
    office.wait_for_session("B")
    world.clock.advance(timedelta(minutes=1))
    world.sessions.finish(office.records.home("B", 1), Exit(code=0))
    office.wait(lambda: office.records.statuses()["C"] == "in_progress")
    assert len(office.records.attempts("A")) > 1
    office.finish()


def test_a_process_that_cannot_be_started_now_is_tried_again_later(office: Office, world: World) -> None:
    world.scripts["A", 1] = _refuse(Unavailable("no process to spare"))
    office.import_items(item("A"))
    office.begin()
    office.wait(lambda: office.records.story("A") == ["execute unavailable"])
    world.clock.advance(timedelta(minutes=1))
    office.finish()
    assert office.records.statuses() == {"A": "done"}
    assert office.records.spent() == Decimal("0.10")


def test_a_program_that_is_gone_fails_the_item(office: Office, world: World) -> None:
    world.default = _refuse(NotFound("there is no such program", remedy="install it"))
    office.import_items(item("A"))
    office.run()
    assert office.records.reason("A") == "crashed: there is no such program → install it"
    assert office.records.spent() == 0


def _refuse(error: Exception) -> Callable[[Scene], Play]:
    def refuse(_scene: Scene) -> Play:
        raise error

    return refuse


def test_an_account_at_its_limit_is_waited_for_and_the_conversation_gone_on_with(office: Office, world: World) -> None:
    until = world.clock.now() + timedelta(hours=5)
    world.scripts["A", 1] = lambda _scene: say(Outcome.LIMITED, "limit", session="talk", retry_at=until.isoformat())
    office.import_items(item("A"))
    office.begin()
    office.wait(lambda: office.records.story("A") == ["execute limited"])
    world.clock.advance(timedelta(hours=4))
    office.wait(lambda: "A" in office.engine.live.holds)
    assert office.records.story("A") == ["execute limited"]
    world.clock.advance(timedelta(hours=1))
    office.finish()
    assert office.records.statuses() == {"A": "done"}
    assert "talk" in world.scenes[1].launch.argv


def test_a_missing_login_stops_the_plan_and_says_what_mends_it(
    open_office: Callable[..., Office], world: World
) -> None:
    office = open_office(Limits(parallel=2))
    world.scripts["A", 1] = hang
    world.scripts["B", 1] = lambda _scene: replace(say(Outcome.AUTH_FAILED, "not logged in", cost="0"), exit=None)
    office.import_items(item("A"), item("B"), item("C"))
    office.begin()
    office.wait_for_session("A")
    office.wait_for_session("B")
    world.sessions.finish(office.records.home("B", 1), Exit(code=0))
    office.finish()
    assert office.records.state().stop is StopReason.AUTH
    assert office.records.statuses() == {"A": "in_progress", "B": "in_progress", "C": "pending"}
    (ended,) = office.records.attempts("A")
    assert ended.result is not None
    assert (ended.result.outcome, ended.result.is_deliberate) == (Outcome.INTERRUPTED, True)
    hold_invariants(office)
    again = open_office(Limits(parallel=2))
    again.run()
    assert set(again.records.statuses().values()) == {"done"}
    hold_invariants(again)


def test_an_agent_that_nobody_knows_fails_its_item_only(office: Office) -> None:
    office.import_items(replace(item("A"), agent="nobody"), item("B"))
    office.run()
    assert office.records.statuses() == {"A": "failed", "B": "done"}
    hold_invariants(office)


def test_a_workspace_that_somebody_removed_costs_a_try(office: Office, world: World) -> None:
    def vanish(scene: Scene) -> Play:
        world.workspace._trees.clear()
        return work(scene)

    world.scripts["A", 1] = vanish
    office.import_items(item("A"))
    office.run()
    first, *_ = office.records.attempts("A")
    assert first.result is not None
    assert first.result.outcome is Outcome.CRASHED
    assert "could not be saved" in first.result.reason
    # What the session cost is known all the same.
    assert (first.cost, first.basis) == (Decimal("0.10"), "reported")
    assert office.records.statuses() == {"A": "done"}
    hold_invariants(office)


def test_a_session_that_cannot_be_followed_is_ended(office: Office, world: World) -> None:
    def confuse(scene: Scene) -> Play:
        # What is not bytes cannot be read: a fault of ours, while the agent goes on.
        return replace(hang(scene), output=None)  # type: ignore[arg-type]  # that is the point

    world.scripts["A", 1] = confuse
    office.import_items(item("A"))
    office.run()
    assert office.records.story("A")[0] == "execute crashed"
    assert world.sessions._sessions[office.records.home("A", 1)].exit.cause == "stopped"
    assert office.records.statuses() == {"A": "done"}


def test_a_target_that_is_gone_is_waited_for_within_limits(office: Office, world: World) -> None:
    office.import_items(item("A"))
    main = world.history.refs.pop(MAIN)
    office.begin()
    office.wait(lambda: office.records.story("A") == ["execute unavailable"])
    world.history.refs[MAIN] = main
    world.clock.advance(timedelta(minutes=1))
    office.finish()
    assert office.records.statuses() == {"A": "done"}


def test_a_stage_that_the_pipeline_has_lost_fails_its_item(open_office: Callable[..., Office], world: World) -> None:
    world.scripts["A", 1] = hang
    office = open_office()
    office.import_items(item("A"))
    office.begin()
    office.wait_for_session("A")
    solo = world.pipelines["solo"]
    stages = {name: stage for name, stage in solo.stages.items() if name != "execute"}
    world.pipelines = {"solo": replace(solo, first="verify", stages=stages)}
    again = open_office()
    again.run()
    assert again.records.reason("A") == "pipeline solo has no stage execute any more"


def test_a_plan_goes_through_the_pipeline_that_it_is_begun_with(
    open_office: Callable[..., Office], world: World
) -> None:
    solo = world.pipelines["solo"]
    bold = Pipeline("bold", "execute", {"execute": replace(solo.stages["execute"], next="")})
    world.pipelines = {"solo": solo, "bold": bold}
    world.scripts["A", 1] = hang
    office = open_office()
    office.import_items(item("A"), item("B", "A"))
    office.begin(pipeline="bold")
    office.wait_for_session("A")
    again = open_office()
    again.begin(pipeline="solo")
    world.sessions.finish(again.records.home("A", 1), Exit(code=0))
    again.finish()
    # What has begun goes on where it was; what begins afterwards goes the new way.
    assert again.records.story("A") == ["execute completed"]
    assert again.records.story("B") == ONCE
