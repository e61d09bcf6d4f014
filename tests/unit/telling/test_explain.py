"""`why`: one sentence for every place that an item can be in."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from whilly.application.telling.explain import Case, Explanation, explain
from whilly.application.telling.progress import Active, Money, Progress, Queued
from whilly.application.telling.rows import AttemptRow, ItemRow
from whilly.domain.attempt import AttemptResult, Evidence, Outcome
from whilly.domain.flow.plan_run import PlanPhase, StopReason
from whilly.domain.flow.run import Ending, Phase, Run, Wait
from whilly.domain.ids import CommitId, ItemId, PlanId, RunId
from whilly.domain.schedule import WaitsForFiles, WaitsForItem, WaitsForSlot
from whilly.domain.work_item import ItemStatus, WorkItem

NOW = datetime(2026, 5, 2, 12, tzinfo=UTC)
OTHER = Active(
    ItemId("A"), "Other", "verify", 2, "", NOW - timedelta(minutes=3), is_under_way=True, last_action="$ make"
)
PROGRESS = Progress(
    PlanId("p"), "Shop", "tasks.json", NOW, PlanPhase.ACTIVE, "whilly/shop", parallel=3, begun_at=NOW, active=(OTHER,)
)


def item(name: str, status: ItemStatus, reason: str = "", run: Run | None = None, *needs: str) -> ItemRow:
    return ItemRow(WorkItem(ItemId(name), name, dependencies=tuple(map(ItemId, needs))), status, reason, run)


def make_run(**changes: Any) -> Run:  # noqa: ANN401  (any field of a run)
    return replace(Run(RunId("t-1"), PlanId("p"), ItemId("T"), "solo", "execute"), **changes)


def make_case(status: ItemStatus, reason: str = "", run: Run | None = None, **changes: Any) -> Case:  # noqa: ANN401  (as above)
    row = item("T", status, reason, run)
    return replace(Case(row, {row.item.id: row}, PROGRESS, ()), **changes)


def queued(wait: WaitsForItem | WaitsForFiles | WaitsForSlot, progress: Progress = PROGRESS) -> Progress:
    return replace(progress, queue=(Queued(ItemId("T"), "T", "high", str(wait), wait),))


def ended(outcome: Outcome, reason: str = "", number: int = 1) -> AttemptRow:
    result = AttemptResult(outcome, reason)
    return AttemptRow(
        RunId("t-1"), number, "execute", "claude", NOW, NOW, result, None, Decimal(1), Decimal("0.5"), "reported", "T"
    )


def texts(explanation: Explanation) -> list[str]:
    return [fact.text for fact in explanation.facts]


def test_a_dependency_that_is_being_worked_on() -> None:
    wait = WaitsForItem(ItemId("A"), ItemStatus.IN_PROGRESS)
    rows = {ItemId("A"): item("A", ItemStatus.IN_PROGRESS)}
    told = explain(make_case(ItemStatus.PENDING, progress=queued(wait), items=rows))
    assert told.sentence == "T waits for A, which is running"
    assert texts(told) == ["A: verify, attempt 2; last action: $ make"]
    assert told.facts[0].at == OTHER.since
    assert told.remedies == ("whilly why A",)


def test_files_that_somebody_else_changes() -> None:
    told = explain(make_case(ItemStatus.PENDING, progress=queued(WaitsForFiles(ItemId("A"), "src/app.py"))))
    assert told.sentence == "T waits for A, which is running: both are about to change `src/app.py`"


def test_no_slot() -> None:
    told = explain(make_case(ItemStatus.PENDING, progress=queued(WaitsForSlot())))
    assert told.sentence == "T is ready and waits for a free slot: 1 of 3 are taken"
    assert texts(told) == ["A is running: verify"]


@pytest.mark.parametrize(
    ("phase", "is_attended", "stop", "sentence"),
    [
        (PlanPhase.IDLE, False, None, "nobody works on the plan"),
        (PlanPhase.IDLE, False, StopReason.BUDGET, "nobody works on the plan since its budget is spent"),
        (PlanPhase.ACTIVE, False, None, "nobody works on the plan"),
        (PlanPhase.STOPPING, True, StopReason.TIMEOUT, "work on the plan is stopping: its time was over"),
    ],
)
def test_nobody_at_work(phase: PlanPhase, is_attended: bool, stop: StopReason | None, sentence: str) -> None:  # noqa: FBT001  (a table of cases)
    progress = queued(WaitsForSlot(), replace(PROGRESS, phase=phase, stop=stop))
    told = explain(make_case(ItemStatus.PENDING, progress=progress, is_attended=is_attended))
    assert told.sentence == f"T has not been started: {sentence}"
    assert told.remedies == ("whilly run tasks.json",)


def test_a_running_attempt() -> None:
    active = replace(OTHER, item=ItemId("T"), agent="claude", stage="execute", quiet=timedelta(seconds=7))
    run = make_run(phase=Phase.RUNNING, attempt=1)
    told = explain(make_case(ItemStatus.IN_PROGRESS, run=run, progress=replace(PROGRESS, active=(active,))))
    assert told.sentence == "T is being worked on: stage execute, attempt 1 by claude"
    assert told.facts[1].at == NOW - timedelta(seconds=7)
    left = explain(make_case(ItemStatus.IN_PROGRESS, run=run, is_attended=False))
    assert left.sentence == "T was being worked on when Whilly ended: stage execute, attempt 1"


def test_a_pause_for_money() -> None:
    progress = replace(PROGRESS, money=Money(Decimal(4), Decimal(1), Decimal(5)))
    told = explain(make_case(ItemStatus.IN_PROGRESS, run=make_run(), progress=progress))
    assert told.sentence == "T waits for money: the rest of the budget is reserved by attempts under way"
    assert texts(told)[0] == "$4 spent and $1 reserved of $5"


def test_an_accounts_limit() -> None:
    until = NOW + timedelta(hours=3)
    run = make_run(phase=Phase.WAITING, wait=Wait("usage limit reached", NOW, until, "agent:claude"))
    told = explain(make_case(ItemStatus.IN_PROGRESS, run=run))
    local = until.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    assert told.sentence == f"T waits until {local} for the account's limit: usage limit reached"


def test_a_person_who_has_to_answer() -> None:
    run = make_run(phase=Phase.WAITING, wait=Wait("which colour?", NOW, whom="person"))
    told = explain(make_case(ItemStatus.HUMAN_LOOP, run=run))
    assert told.sentence == "T waits for a person: which colour?"
    assert told.remedies == ('whilly retry T --note "…" answers and lets it go on',)
    assert explain(make_case(ItemStatus.HUMAN_LOOP, "told by the file")).sentence.endswith("told by the file")


def test_a_person_who_has_to_look_at_a_change() -> None:
    run = make_run(phase=Phase.WAITING, wait=Wait("look at it", NOW, whom="person", review=CommitId("ab" * 20)))
    told = explain(make_case(ItemStatus.HUMAN_LOOP, run=run))
    assert told.remedies == (
        "git show abababababab",
        "whilly accept T abababababab lets exactly this go on",
        "whilly cancel T refuses it",
    )


def test_a_failure_has_its_evidence() -> None:
    evidence = Evidence("`make` failed", "make", 2, "boom", remedy="make setup")
    run = make_run(phase=Phase.ENDED, ending=Ending(ItemStatus.FAILED, "checks failed", None, evidence))
    attempts = (ended(Outcome.COMPLETED), ended(Outcome.REJECTED, "`make` failed", 2))
    told = explain(make_case(ItemStatus.FAILED, "checks failed", run, attempts=attempts, branch="whilly/T"))
    assert told.sentence == "T failed: checks failed"
    assert told.failure == evidence
    assert texts(told) == [
        "attempt 2 (execute by claude) ended as rejected: `make` failed",
        "attempt 1 (execute by claude) ended as completed",
        "its work so far is on branch whilly/T",
    ]
    assert told.remedies[0] == "make setup"


def test_a_block_is_traced_to_what_failed_first() -> None:
    rows = [
        item("A", ItemStatus.FAILED, "checks failed"),
        item("B", ItemStatus.BLOCKED, "depends on A, which failed", None, "A"),
    ]
    blocked = item("T", ItemStatus.BLOCKED, "depends on B, which is blocked: A failed", None, "B")
    case = Case(blocked, {row.item.id: row for row in [*rows, blocked]}, PROGRESS, ())
    told = explain(case)
    assert told.sentence == "T is blocked: it depends on B, which is blocked: A failed"
    assert texts(told) == ["A failed: checks failed"]
    assert told.remedies == ("whilly why A", "whilly retry A")


def test_what_is_done_names_its_commit_and_attempt() -> None:
    run = make_run(phase=Phase.ENDED, ending=Ending(ItemStatus.DONE, commit=CommitId("0123456789abcdef")))
    told = explain(make_case(ItemStatus.DONE, run=run, attempts=(ended(Outcome.COMPLETED, number=3),)))
    assert told.sentence == "T is done as commit 0123456789ab on whilly/shop by attempt 3 (execute)"
    assert explain(make_case(ItemStatus.DONE, "done in the plan file")).sentence == "T is done: done in the plan file"


@pytest.mark.parametrize("status", list(ItemStatus))
@pytest.mark.parametrize("run", [None, make_run(), make_run(phase=Phase.RUNNING, attempt=1)])
@pytest.mark.parametrize("phase", list(PlanPhase))
def test_every_place_has_an_answer(status: ItemStatus, run: Run | None, phase: PlanPhase) -> None:
    told = explain(make_case(status, run=run, progress=replace(PROGRESS, phase=phase)))
    assert told.sentence.startswith("T ")
