"""The commands by which people say what they want, on a real ledger and with real processes."""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import psutil
import pytest

from whilly.adapters.process.sessions import ProcessSessions
from whilly.cli.run_lock import hold_lock
from whilly.domain.attempt import AttemptResult, Outcome
from whilly.domain.ids import ItemId, attempt_id
from whilly.domain.session import Launch
from whilly.domain.work_item import ItemStatus, WorkItem
from whilly.testing.staged import PLAN, StagedPlan

if TYPE_CHECKING:
    from tests.e2e.conftest import Command

    from whilly.testing.scratch import ScratchRepository

ITEMS = (
    WorkItem(ItemId("T-1"), "First"),
    WorkItem(ItemId("T-2"), "Second", dependencies=(ItemId("T-1"),)),
    WorkItem(ItemId("T-3"), "Third", dependencies=(ItemId("T-2"),)),
    WorkItem(ItemId("T-4"), "Fourth"),
)
SOURCE = """\
{ "project": "Shop", "unknown": [1.50, 2e3],
  "tasks": [
    {"id": "T-1", "description": "First", "status": "pending", "mine": {"a":  null}},
    {"id": "T-2", "description": "Second", "status": "pending", "dependencies": ["T-1"]},
    {"id": "T-9", "description": "Not in the ledger", "status": "pending"}
  ]}
"""
CRASHED = AttemptResult(Outcome.CRASHED, "boom")


@pytest.fixture
def staged(scratch: ScratchRepository) -> StagedPlan:
    staged = StagedPlan.make(scratch.root, ITEMS, name="Shop")
    staged.begin(parallel=1)
    return staged


def statuses(staged: StagedPlan) -> dict[str, str]:
    return {row.item.id: row.status for row in staged.project.reading.items(PLAN)}


async def start_session(staged: StagedPlan, item: str) -> int:
    """A real agent process for the item's attempt under way, which would never end by itself."""
    run = staged.run(item)
    home = staged.project.attempts_root / run.id / str(run.attempt)
    text = 'import json, time\nprint(json.dumps({"type": "activity", "text": "go"}), flush=True)\ntime.sleep(600)'
    launch = Launch((sys.executable, "-c", text), str(staged.project.root), grace=timedelta(seconds=1))
    await ProcessSessions(str(staged.project.state)).start(attempt_id(run.id, run.attempt), str(home), launch)
    return int(json.loads((home / "pid.json").read_text(encoding="utf-8"))["pid"])


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no sessions")
async def test_cancelling_ends_the_agent_when_no_whilly_is_there_to_do_it(staged: StagedPlan, command: Command) -> None:
    staged.start("T-1")
    supervisor = psutil.Process(await start_session(staged, "T-1"))
    tree = [supervisor, *supervisor.children(recursive=True)]
    told = command("cancel", "T-1", "--reason", "not wanted")
    assert (told.code, told.out) == (0, "T-1 is skipped: cancelled by ada: not wanted\n"), told.err
    _, alive = psutil.wait_procs(tree, timeout=5)
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []
    assert statuses(staged) == {"T-1": "skipped", "T-2": "blocked", "T-3": "blocked", "T-4": "pending"}
    # What the agent may have cost counts; nothing is left reserved.
    (row,) = staged.project.reading.attempts(PLAN, ItemId("T-1"))
    assert (row.cost, row.basis) == (Decimal(1), "reserved")
    await ProcessSessions(str(staged.project.state)).sweep(())


def test_cancelling_leaves_the_agent_to_the_whilly_that_is_at_work(staged: StagedPlan, here: Command) -> None:
    staged.start("T-1")
    with hold_lock(staged.project.state, ("Shop",), staged.clock.now()):
        assert here("cancel", "T-1").code == 0
    (row,) = staged.project.reading.attempts(PLAN, ItemId("T-1"))
    assert row.result is None


def test_cancelling_what_has_not_begun_skips_it(staged: StagedPlan, here: Command) -> None:
    told = here("cancel", "T-4", "--json")
    assert json.loads(told.out) == {
        "id": "T-4",
        "is_done": True,
        "status": "skipped",
        "reason": "cancelled by ada",
    }
    again = here("cancel", "T-4")
    assert (again.code, again.out) == (1, "")
    assert again.err == "whilly: T-4 cannot be cancelled: T-4 is skipped\n"
    assert statuses(staged)["T-4"] == "skipped"


def test_retrying_lets_go_on_what_was_blocked_too(staged: StagedPlan, here: Command) -> None:
    staged.fail("T-1", CRASHED)
    assert statuses(staged) == {"T-1": "failed", "T-2": "blocked", "T-3": "blocked", "T-4": "in_progress"}
    stuck = here("retry", "T-3")
    assert (stuck.code, "T-3 cannot be tried again: it is still blocked: it depends on T-2" in stuck.err) == (1, True)
    told = here("retry", "--failed", "--note", "mind the gap")
    assert told.code == 0
    assert told.out.splitlines() == ["T-1 is pending again", f"whilly run {staged.plan.source} goes on with it"]
    assert statuses(staged) == {"T-1": "pending", "T-2": "pending", "T-3": "pending", "T-4": "in_progress"}
    event = json.loads(here("timeline", "T-1", "--json").out)["events"][-1]
    assert (event["event"], event["by"], event["note"]) == ("retry_requested", "ada", "mind the gap")


def test_retrying_answers_an_agents_question(staged: StagedPlan, here: Command) -> None:
    staged.start("T-1")
    staged.end("T-1", AttemptResult(Outcome.ASKED, "which colour?"))
    assert here("why", "T-1").out.startswith("T-1 waits for a person: which colour?")
    assert here("retry", "T-1", "--note", "red").code == 0
    evidence = staged.run("T-1").evidence
    assert evidence is not None
    assert evidence.summary == "ada says: red"


@pytest.mark.usefixtures("staged")
@pytest.mark.parametrize(
    ("words", "code"), [((), 4), (("T-1", "--failed"), 4), (("T-8",), 4), (("T-4",), 1), (("--failed",), 0)]
)
def test_what_cannot_be_retried_is_said_by_the_exit_code(here: Command, words: tuple[str, ...], code: int) -> None:
    assert here("retry", *words).code == code


def test_nothing_is_retried_when_one_of_the_names_is_wrong(staged: StagedPlan, here: Command) -> None:
    staged.fail("T-1", CRASHED)
    assert here("retry", "T-1", "T-x").code == 4
    assert statuses(staged)["T-1"] == "failed"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no sessions")
async def test_resetting_begins_anew_and_leaves_no_agent(staged: StagedPlan, command: Command) -> None:
    staged.start("T-1")
    supervisor = psutil.Process(await start_session(staged, "T-1"))
    told = command("reset", "--yes", "--json")
    assert json.loads(told.out) == {"plans": [{"plan": PLAN, "name": "Shop", "changed": 1, "problems": []}]}
    _, alive = psutil.wait_procs([supervisor], timeout=5)
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []
    assert set(statuses(staged).values()) == {ItemStatus.PENDING}
    await ProcessSessions(str(staged.project.state)).sweep(())


def test_resetting_asks_first(staged: StagedPlan, here: Command) -> None:
    staged.fail("T-1", CRASHED)
    told = here("reset")
    assert (told.code, told.out) == (4, "")
    assert "nothing was changed\n  → whilly reset --yes" in told.err
    assert statuses(staged)["T-1"] == "failed"


def test_resetting_is_refused_while_a_whilly_is_at_work(staged: StagedPlan, here: Command) -> None:
    staged.fail("T-1", CRASHED)
    with hold_lock(staged.project.state, ("Shop",), staged.clock.now()):
        told = here("reset", "--yes")
    assert told.code == 4
    assert "whilly is at work in this repository: process " in told.err
    assert statuses(staged)["T-1"] == "failed"


def test_exporting_changes_the_statuses_and_nothing_else(staged: StagedPlan, here: Command) -> None:
    source = staged.project.root / "tasks.json"
    source.write_bytes(SOURCE.encode())
    staged.fail("T-1", CRASHED)
    wanted = SOURCE.replace('"status": "pending", "mine"', '"status": "failed", "mine"').replace(
        '"status": "pending", "dep', '"status": "blocked", "dep'
    )
    assert here("export").out == wanted
    assert source.read_bytes() == SOURCE.encode()
    assert here("export", "--output", "copy.json").code == 0
    assert (staged.project.root / "copy.json").read_bytes() == wanted.encode()
    assert here("export", "tasks.json", "--in-place").code == 0
    assert source.read_bytes() == wanted.encode()
    assert json.loads(here("export", "--json").out)["statuses"]["T-1"] == "failed"


def test_exporting_without_a_readable_file_is_an_error(staged: StagedPlan, here: Command) -> None:
    assert here("export").code == 4
    (staged.project.root / "tasks.json").write_text("{", encoding="utf-8")
    assert here("export").code == 4
    assert here("export", "--in-place", "--output", "x").code == 4
