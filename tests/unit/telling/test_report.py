from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from whilly.application.telling.render_report import render_markdown, report_as_json
from whilly.application.telling.report import Report, make_report
from whilly.application.telling.rows import AttemptRow, ItemRow, PlanRow
from whilly.domain.attempt import AttemptResult, Outcome, Usage
from whilly.domain.flow.plan_run import Limits, PlanRun
from whilly.domain.flow.run import Ending, Phase, Run
from whilly.domain.ids import CommitId, ItemId, PlanId, RunId
from whilly.domain.work_item import ItemStatus, WorkItem

NOW = datetime(2026, 5, 2, 12, tzinfo=UTC)
PLAN = PlanRow(
    PlanId("p"),
    "Shop | two",
    "/plans/a b.json",
    PlanRun(PlanId("p"), target="whilly/shop", limits=Limits(budget=Decimal(5))),
    3,
    NOW - timedelta(hours=1),
)
NASTY = "Pipe | `code` <b>*bold*</b> [link](x) \x1b[31m"


def row(name: str, title: str, status: ItemStatus, reason: str = "") -> ItemRow:
    ending = Ending(status, reason, CommitId("c" * 40) if status is ItemStatus.DONE else None)
    run = Run(
        RunId(f"{name}-1"), PLAN.id, ItemId(name), "solo", "integrate", phase=Phase.ENDED, attempt=2, ending=ending
    )
    return ItemRow(WorkItem(ItemId(name), title), status, reason, run)


def attempt(name: str, number: int, cost: str | None, basis: str = "reported", *, outside: str = "") -> AttemptRow:
    usage = Usage(Decimal(cost) if cost and basis == "reported" else None, 100, 10, 1000, 50, 2)
    result = AttemptResult(Outcome.COMPLETED, usage=usage, outside_claims=(outside,) if outside else ())
    begun = NOW - timedelta(minutes=30 - number)
    return AttemptRow(
        run=RunId(f"{name}-1"),
        number=number,
        stage="execute",
        agent="claude",
        started_at=begun,
        ended_at=begun + timedelta(seconds=30) if cost else None,
        result=result if cost else None,
        session=None,
        reserved=Decimal(1),
        cost=Decimal(cost) if cost else None,
        basis=basis,
        item=name,
    )


def make() -> Report:
    rows = [row("A", NASTY, ItemStatus.DONE), row("B", "Fine", ItemStatus.FAILED, "a | b\nc")]
    attempts = [attempt("A", 1, "0.25", outside="od|d.txt"), attempt("A", 2, "1", "reserved"), attempt("B", 1, None)]
    return make_report(PLAN, rows, attempts, NOW)


def test_money_is_told_apart_by_how_it_is_known() -> None:
    report = make()
    task = report.tasks[0].expense
    assert (task.reported, task.assumed, task.open, task.cost) == (
        Decimal("0.25"),
        Decimal(1),
        Decimal(0),
        Decimal("1.25"),
    )
    assert (report.total.cost, report.total.open, report.total.attempts) == (Decimal("1.25"), Decimal(1), 3)
    assert (report.total.usage.input_tokens, report.total.usage.cache_read_tokens) == (200, 2000)


def test_an_attempt_under_way_counts_its_time_until_now() -> None:
    assert make().tasks[1].expense.worked == timedelta(minutes=29)


def test_tables_stay_tables_whatever_titles_hold() -> None:
    lines = render_markdown(make()).splitlines()
    tables = [line for line in lines if line.startswith("|")]
    widths = {line.replace("\\|", "").count("|") for line in tables}
    assert widths == {10, 11}
    assert len(tables) == 2 + 2 + 2 + 3
    assert "Pipe \\| \\`code\\` \\<b\\>\\*bold\\*\\</b\\> \\[link\\](x) �\\[31m" in tables[2]
    assert "a \\| b c" in tables[3]


def test_the_markdown_has_the_sums_and_what_strayed() -> None:
    text = render_markdown(make())
    assert text.startswith("# Shop \\| two: 1 of 2 tasks done\n")
    assert "- cost: $1.25 ($1.00 of it assumed: unknown, $1.00 more reserved) of $5.00\n" in text
    assert "## Changed outside `key_files`\n\n- A: `od\\|d.txt`\n" in text


def test_the_json_report_has_fields_that_stay() -> None:
    told = json.loads(json.dumps(report_as_json(make())))
    assert set(told) == {
        "plan", "name", "source", "target", "stop", "begun_at", "reported_at", "budget_usd", "counts", "total", "items",
    }  # fmt: skip
    assert set(told["items"][0]) == {
        "id", "title", "status", "reason", "commit", "outside_claims", "took_sec", "attempt_count", "cost_usd",
        "cost_reported_usd", "cost_assumed_usd", "cost_open_usd", "input_tokens", "output_tokens", "cache_read_tokens",
        "cache_write_tokens", "turns", "worked_sec", "attempts",
    }  # fmt: skip
    assert set(told["items"][0]["attempts"][0]) == {
        "run", "attempt", "stage", "agent", "session", "started_at", "ended_at", "outcome", "reason", "cost_usd",
        "basis", "reserved_usd", "input_tokens", "output_tokens",
    }  # fmt: skip
    assert told["total"]["cost_usd"] == 1.25
    assert told["items"][0]["title"] == NASTY
