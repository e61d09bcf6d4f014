"""The commands that look at the ledger, as people run them, on a real ledger."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from whilly.cli.run_lock import hold_lock
from whilly.domain.attempt import AttemptResult, Evidence, Outcome
from whilly.domain.ids import CommitId, ItemId
from whilly.domain.work_item import ItemStatus, Priority, WorkItem
from whilly.testing.staged import StagedPlan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.e2e.conftest import Command

    from whilly.testing.scratch import ScratchRepository

NASTY = "Third | [red]x[/red] \x1b[31m\u202e$(id) 日本語 " + "x" * 5000
ITEMS = (
    WorkItem(ItemId("T-1"), "First", Priority.HIGH),
    WorkItem(ItemId("T-2"), "Second", Priority.HIGH),
    WorkItem(ItemId("T-3"), NASTY, Priority.MEDIUM),
    WorkItem(ItemId("T-4"), "Fourth", dependencies=(ItemId("T-2"),)),
    WorkItem(ItemId("T-5"), "Fifth", dependencies=(ItemId("T-3"),)),
    WorkItem(ItemId("T-6"), "Sixth", Priority.LOW),
)
REJECTED = AttemptResult(
    Outcome.REJECTED,
    "`make` failed",
    commit=CommitId("b" * 40),
    evidence=Evidence("`make` failed", "make all", 2, "one\n\x1b[2Jtwo\n", ("error: no",), "same", paths=("a",)),
)
STATUS = {
    "plan", "name", "source", "phase", "target", "stop", "remedy", "begun_at", "elapsed_sec", "total", "counts", "cost",
    "running", "waiting", "queue", "undone", "done", "warnings", "whilly", "other_plans",
}  # fmt: skip


@pytest.fixture
def staged(scratch: ScratchRepository) -> StagedPlan:
    """T-1 is done, T-2 failed, T-3 is being worked on by the demo agent, the rest waits."""
    staged = StagedPlan.make(scratch.root, ITEMS, name="Shop")
    staged.begin(parallel=3, budget=Decimal(10))
    staged.finish("T-1", cost="0.30")
    for result in (AttemptResult(Outcome.COMPLETED, commit=CommitId("a" * 40)), REJECTED) * 2:
        staged.start("T-2")
        staged.end("T-2", result, cost=None)
    staged.start("T-3", reserved="1.50")
    staged.clock.advance(timedelta(minutes=4))
    write_output(staged, "T-3", 1, [{"type": "activity", "text": "edit c\x1b[31m.txt", "tokens": 7}])
    return staged


def write_output(staged: StagedPlan, item: str, number: int, lines: list[dict[str, Any]]) -> None:
    home = staged.project.attempts_root / staged.run(item).id / str(number)
    home.mkdir(parents=True)
    (home / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def find_keys(value: object) -> set[str]:
    """All keys of all objects inside, but for the names of statuses."""
    if isinstance(value, dict):
        return set(value) - set(ItemStatus) | {key for each in value.values() for key in find_keys(each)}
    return {key for each in value for key in find_keys(each)} if isinstance(value, list) else set()


def is_clean(text: str) -> bool:
    return all(character.isprintable() or character in "\n\t" for character in text)


def test_status_shows_everything_at_once(staged: StagedPlan, here: Command) -> None:
    with hold_lock(staged.project.state, ("Shop",), staged.clock.now()):
        told = here("status")
    assert told.code == 0, told.err
    assert is_clean(told.out)
    lines = [" ".join(line.split()) for line in told.out.splitlines()]
    assert lines[0].startswith("whilly Shop → whilly/staged")
    assert lines[1].endswith("1/6 done · 2 running · 1 queued · 1 failed · 1 blocked")
    assert any(line.endswith("$2.30 of $10.00 23% (+ $1.50 reserved)") for line in lines)
    assert any(line.startswith("T-3 execute #1 demo") and "$0.00+$1.50 Third | [red]x[/red]" in line for line in lines)
    assert any(line.startswith("↳ edit c [31m.txt") for line in lines)
    assert "T-5 Fifth depends on T-3, which is running" in lines
    assert lines[-1].startswith("whilly is at work here: process ")


def test_what_was_begun_is_not_called_running_when_whilly_was_killed(staged: StagedPlan, here: Command) -> None:
    lines = [" ".join(line.split()) for line in here("status").out.splitlines()]
    assert lines[1].endswith("1/6 done · 2 begun · 1 queued · 1 failed · 1 blocked")
    assert (
        lines[3] == f"nobody is at work; 2 tasks that were begun go on with the next `whilly run {staged.plan.source}`"
    )
    assert lines[-1].startswith("no whilly is at work here: the last one ended without a word")
    told = json.loads(here("status", "--json").out)
    assert (told["phase"], [each["is_under_way"] for each in told["running"]]) == ("active", [False, False])


@pytest.mark.usefixtures("staged")
def test_status_for_programs_has_fields_that_stay(here: Command) -> None:
    told = json.loads(here("status", "--json").out)
    assert set(told) == STATUS
    assert told["counts"] == {
        "pending": 1, "in_progress": 2, "done": 1, "failed": 1, "skipped": 0, "blocked": 1, "human_loop": 0,
    }  # fmt: skip
    assert told["cost"] == {"spent_usd": 2.3, "reserved_usd": 1.5, "budget_usd": 10.0}
    running = next(each for each in told["running"] if each["id"] == "T-3")
    assert set(running) == {
        "id", "title", "run", "stage", "attempt", "agent", "is_under_way", "hold", "since", "elapsed_sec",
        "last_action", "quiet_sec", "tokens", "spent_usd", "reserved_usd",
    }  # fmt: skip
    assert (running["last_action"], running["tokens"]) == ("edit c [31m.txt", 7)
    assert told["whilly"] is None
    assert set(told["queue"][0]) == {"id", "title", "priority", "reason"}
    assert set(told["done"][0]) == {"id", "title", "status", "reason", "took_sec", "cost_usd"}


def test_status_names_the_whilly_that_is_at_work(staged: StagedPlan, here: Command) -> None:
    with hold_lock(staged.project.state, ("Shop",), staged.clock.now()):
        told = json.loads(here("status", "--json").out)
        assert f"process {os.getpid()}" in here("status").out
    assert told["whilly"]["pid"] == os.getpid()
    assert told["whilly"]["plans"] == ["Shop"]


@pytest.mark.parametrize(
    ("task", "sentence"),
    [
        ("T-1", "T-1 is done as commit c0ffee"),
        ("T-2", "T-2 failed: checks failed"),
        ("t-3", "T-3 is being worked on: stage execute, attempt 1 by demo"),
        ("T-4", "T-4 is blocked: it depends on T-2, which failed"),
        ("T-5", "T-5 waits for T-3, which is running"),
    ],
)
def test_why_says_it_in_its_first_line(staged: StagedPlan, here: Command, task: str, sentence: str) -> None:
    with hold_lock(staged.project.state, ("Shop",), staged.clock.now()):
        told = here("why", task)
    assert told.code == 0, told.err
    assert told.out.splitlines()[0].startswith(sentence)
    assert is_clean(told.out)


@pytest.mark.usefixtures("staged")
def test_why_shows_the_failing_command_and_the_end_of_its_output(here: Command) -> None:
    out = here("why", "T-2").out
    assert "  $ make all   → exit code 2\n  ! error: no\n  | one\n  | �[2Jtwo\n" in out
    told = json.loads(here("why", "T-2", "--json").out)
    assert set(told) == {"id", "title", "plan", "status", "sentence", "evidence", "failure", "remedies"}
    assert set(told["failure"]) == {"summary", "command", "exit_code", "output", "hints", "paths", "remedy"}
    assert set(told["evidence"][0]) == {"text", "at", "age_sec"}


@pytest.mark.usefixtures("staged")
def test_without_a_whilly_work_in_progress_is_said_to_be_left(here: Command) -> None:
    assert here("why", "T-3").out.startswith("T-3 was being worked on when Whilly ended")
    assert here("why", "T-5").out.startswith("T-5 has not been started: nobody works on the plan")


@pytest.mark.usefixtures("staged")
@pytest.mark.parametrize("words", [("why",), ("timeline",), ("logs",), ("cancel",), ("retry",)])
def test_an_unknown_task_is_refused_with_the_nearest_name(here: Command, words: tuple[str, ...]) -> None:
    told = here(*words, "TT-3")
    assert (told.code, told.out) == (4, "")
    assert told.err == "whilly: there is no task 'TT-3' in plan Shop\n  → did you mean T-3?\n"


@pytest.mark.usefixtures("staged")
def test_an_unknown_plan_is_refused_with_those_there_are(here: Command) -> None:
    told = here("status", "--plan", "other")
    assert told.code == 4
    assert "there is no plan 'other' in the ledger" in told.err
    assert "Shop (" in told.err


@pytest.mark.parametrize("words", [("status",), ("why", "T"), ("report",), ("reset",), ("logs", "T"), ("export",)])
def test_where_nothing_was_run_there_is_nothing_to_look_at(
    here: Command, scratch: ScratchRepository, words: tuple[str, ...]
) -> None:
    told = here(*words)
    assert (told.code, told.out) == (4, "")
    assert told.err == "whilly: no plan was ever worked on in this repository\n  → whilly run PLAN\n"
    assert not (scratch.root / ".whilly").exists()


@pytest.mark.usefixtures("staged")
def test_a_plan_is_chosen_by_name_file_or_id(here: Command, scratch: ScratchRepository) -> None:
    for name in ("Shop", "tasks", "tasks.json", str(scratch.root / "tasks.json"), "plan-staged"):
        assert here("status", "--plan", name, "--json").code == 0


@pytest.mark.usefixtures("staged")
def test_the_timeline_tells_everything_in_order(here: Command) -> None:
    told = json.loads(here("timeline", "T-2", "--json").out)
    milestones = [event.get("milestone") for event in told["events"]]
    assert milestones == [
        "task_started",
        "execute_started",
        "execute_finished",
        "verification_started",
        "verification_failed",
        "repair_started",
        "repair_finished",
        "verification_started",
        "verification_failed",
        "task_failed",
    ]
    out = here("timeline", "T-2").out
    assert "verification failed #2: rejected — `make` failed" in out
    assert "exit code: 2" in out


def test_logs_show_actions_last_words_and_checks(staged: StagedPlan, here: Command) -> None:
    lines = [
        {"type": "activity", "text": "edit a.txt"},
        {"type": "result", "message": "Done.\n<promise>COMPLETE</promise>"},
    ]
    write_output(staged, "T-2", 1, lines)
    out = here("logs", "T-2").out
    assert "  edit a.txt\n  says:\n  > Done.\n  > <promise>COMPLETE</promise>\n" in out
    assert "  $ make all   → exit code 2\n  | one\n  | �[2Jtwo\n" in out
    assert [line for line in out.splitlines() if line.startswith("──")][1].startswith("── 1/2 verify, ")
    assert here("logs", "T-2", "--attempt", "1").out.count("──") == 1
    assert here("logs", "T-2", "--attempt", "1/1").out.count("──") == 1
    assert here("logs", "T-2", "--attempt", "9").code == 4
    raw = here("logs", "T-2", "--attempt", "1", "--raw").out
    assert [json.loads(line) for line in raw.splitlines()] == lines
    told = json.loads(here("logs", "T-2", "--json").out)
    assert set(told["attempts"][0]) == {
        "run", "attempt", "stage", "agent", "started_at", "ended_at", "outcome", "reason", "actions", "is_cut",
        "message", "stderr", "command", "exit_code", "output", "home",
    }  # fmt: skip


def test_logs_of_a_huge_output_are_read_from_its_end(staged: StagedPlan, here: Command) -> None:
    home = staged.project.attempts_root / staged.run("T-3").id / "1"
    line = json.dumps({"type": "activity", "text": "step", "pad": "x" * 1000}) + "\n"
    with (home / "events.jsonl").open("a", encoding="utf-8") as file:
        for _ in range(20_000):
            file.write(line)
        file.write(json.dumps({"type": "activity", "text": "the last one"}) + "\n")
    told = here("logs", "T-3", "-n", "3")
    assert told.out.splitlines()[1:] == [
        "  … (earlier output is left out; --raw has all of it)",
        "  step",
        "  step",
        "  the last one",
    ]
    told = json.loads(here("status", "--json").out)
    assert "the last one" in [each["last_action"] for each in told["running"]]


def test_what_an_agent_did_is_still_told_when_its_settings_are_damaged(staged: StagedPlan, here: Command) -> None:
    (staged.project.root / "whilly.toml").write_text('[agents.demo]\nargv = ["x"]\n', encoding="utf-8")
    assert here("status").code == 0
    assert here("logs", "T-2").code == 0


def test_following_ends_when_nobody_works_on_the_task(staged: StagedPlan, here: Command) -> None:
    told = here("logs", "T-3", "-f")
    assert told.code == 0
    assert "  edit c [31m.txt\n" in told.out
    staged.end("T-3", AttemptResult(Outcome.ASKED, "which?"))
    assert here("logs", "T-3", "-f").code == 0


def test_following_shows_what_comes_until_the_run_has_ended(
    staged: StagedPlan, scratch: ScratchRepository, environ: Mapping[str, str]
) -> None:
    output = staged.project.attempts_root / staged.run("T-3").id / "1" / "events.jsonl"
    argv = [sys.executable, "-m", "whilly", "logs", "-f", "T-3"]
    with (
        hold_lock(staged.project.state, ("Shop",), staged.clock.now()),
        subprocess.Popen(argv, cwd=scratch.root, env=dict(environ), stdout=subprocess.PIPE, text=True) as following,
    ):
        assert following.stdout is not None
        seen = [following.stdout.readline() for _ in range(2)]
        with output.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"type": "activity", "text": "and more"}) + "\n")
        seen.append(following.stdout.readline())
        for _ in range(3):
            staged.end("T-3", AttemptResult(Outcome.CRASHED, "boom"))
            if not staged.run("T-3").is_ended:
                staged.start("T-3")
        seen += following.stdout.readlines()
    assert following.returncode == 0
    assert seen[2] == "  and more\n"
    assert seen[3] == "  crashed: boom\n"
    assert [line[:12] for line in seen if line.startswith("──")] == ["── 1/1 execu", "── 1/2 execu", "── 1/3 execu"]


@pytest.mark.usefixtures("staged")
def test_the_report_goes_where_it_is_wanted(here: Command, scratch: ScratchRepository) -> None:
    markdown = here("report").out
    assert markdown.startswith("# Shop: 1 of 6 tasks done\n")
    assert is_clean(markdown)
    assert "Third \\| \\[red\\]x\\[/red\\]" in markdown
    assert here("report", "--output", "out.md").code == 0
    assert (scratch.root / "out.md").read_text(encoding="utf-8").startswith("# Shop")
    told = json.loads(here("report", "--json").out)
    assert [item["status"] for item in told["items"]] == [
        "done",
        "failed",
        "in_progress",
        "blocked",
        "pending",
        "in_progress",
    ]
    assert (told["total"]["cost_usd"], told["total"]["cost_assumed_usd"]) == (2.3, 2.0)
    assert here("report", "--output", "no/such/folder.md").code == 4


@pytest.mark.usefixtures("staged")
@pytest.mark.parametrize("words", [("status",), ("why", "T-3"), ("timeline", "T-2"), ("logs", "T-2"), ("report",)])
def test_looking_never_loads_the_engine(
    environ: Mapping[str, str], scratch: ScratchRepository, words: tuple[str, ...]
) -> None:
    check = f"""
import sys
from whilly.cli.main import main
code = main({list(words)!r})
sys.exit(code or (9 if "dbos" in sys.modules or "alembic" in sys.modules else 0))
"""
    done = subprocess.run(
        [sys.executable, "-c", check], cwd=scratch.root, env=dict(environ), check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("staged")
def test_a_reader_that_stops_reading_is_no_error(environ: Mapping[str, str], scratch: ScratchRepository) -> None:
    argv = [sys.executable, "-m", "whilly", "status"]
    with subprocess.Popen(
        argv, cwd=scratch.root, env=dict(environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in {0, 141}


@pytest.mark.usefixtures("staged")
@pytest.mark.parametrize(
    "words",
    [
        ("status",),
        ("why", "T-2"),
        ("logs", "T-2"),
        ("report",),
        ("cancel", "T-6"),
        ("retry", "T-2"),
        ("agents", "list"),
    ],
)
def test_every_field_is_in_the_reference(here: Command, words: tuple[str, ...]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "json-output.md").read_text(encoding="utf-8")
    section = page.partition(f"## `whilly {' '.join(words[:1])}")[2].partition("\n## ")[0]
    told = json.loads(here(*words, "--json").out)
    shared = page if words[0] in {"report", "retry"} else section
    assert {key for key in find_keys(told) if f"`{key}`" not in shared} == set()


@pytest.mark.usefixtures("staged")
def test_every_field_of_an_event_is_in_the_reference(here: Command) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "events.md").read_text(encoding="utf-8")
    told = json.loads(here("timeline", "T-2", "--json").out)
    assert {key for key in find_keys(told["events"]) if f"`{key}`" not in page} == set()
