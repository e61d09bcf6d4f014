"""`whilly status`: where a plan stands."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from whilly.application.telling.going_on import name_command
from whilly.cli.inspect.peek import peek, without_whilly
from whilly.cli.inspect.printing import print_lines
from whilly.cli.lost_work import find_lost_work
from whilly.cli.run_lock import find_owner
from whilly.cli.subject import choose_plan, json_option, open_ledger, plan_option, print_json
from whilly.domain.errors import ConfigError
from whilly.domain.flow.plan_run import PlanPhase
from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from whilly.application.telling.progress import Active, Progress, Queued, Settled, Waiting
    from whilly.application.telling.rows import PlanRow
    from whilly.bootstrap import Project
    from whilly.cli.run_lock import Owner


@click.command()
@click.argument("plan", metavar="[PLAN]", required=False)
@plan_option
@json_option
@click.option("--all", "is_all", is_flag=True, help="Every task, however many there are.")
def status(plan: str | None, wanted: str | None, *, as_json: bool, is_all: bool) -> None:
    """Show where a plan stands: running, waiting, queued, failed and done tasks, and the money.

    PLAN is what --plan takes, or an issue that was worked on.
    """
    if plan is not None and wanted is not None:
        message = "the plan is named twice"
        raise ConfigError(message, remedy="whilly status PLAN, or whilly status --plan PLAN")
    project = open_ledger()
    print_status(project, choose_plan(project, plan or wanted), as_json=as_json, is_all=is_all)


def print_status(project: Project, plan: PlanRow, *, as_json: bool, is_all: bool) -> None:
    """Where it stands."""
    progress = peek(project, project.observer(plan.id).look())
    owner = find_owner(project.state)
    if owner is None:
        progress = without_whilly(project, progress)
    lost = asyncio.run(find_lost_work(project, plan))
    if as_json:
        others = [other.name for other in project.reading.plans() if other.id != plan.id]
        warnings = [f"{lost.what} → {lost.remedy}"] if lost else []
        more = {"warnings": warnings, "whilly": _describe_owner(owner), "other_plans": others}
        print_json({**describe_progress(progress), **more})
        return
    from whilly.tui.overview import render_overview  # noqa: PLC0415  (costs time: Rich)

    shown = progress if owner is not None else replace(progress, phase=PlanPhase.IDLE)
    print_lines(lambda width: render_overview(shown, width, most=10**9 if is_all else 10))
    print_lines(lambda _: [_tell_owner(owner, progress), *([f"{lost.what}", f"  → {lost.remedy}"] if lost else [])])


def _tell_owner(owner: Owner | None, progress: Progress) -> str:
    if owner is not None:
        return f"whilly is at work here: process {owner.pid} on {owner.host}, since {owner.started_at}"
    if not progress.count(ItemStatus.PENDING, ItemStatus.IN_PROGRESS):
        return "no whilly is at work here"
    killed = ": the last one ended without a word" if progress.phase is not PlanPhase.IDLE else ""
    return f"no whilly is at work here{killed}; {name_command(progress.source, progress.name)} goes on"


def _describe_owner(owner: Owner | None) -> dict[str, Any] | None:
    if owner is None:
        return None
    return {"pid": owner.pid, "host": owner.host, "started_at": owner.started_at, "plans": list(owner.plans)}


def describe_progress(progress: Progress) -> dict[str, Any]:
    """A plan's progress for programs; `docs/reference/json-output.md` lists the fields."""
    money = progress.money
    return {
        "plan": progress.plan,
        "name": progress.name,
        "source": progress.source,
        "phase": progress.phase,
        "target": progress.target,
        "stop": progress.stop,
        "remedy": progress.remedy,
        "begun_at": progress.begun_at.isoformat() if progress.begun_at else None,
        "elapsed_sec": round(progress.elapsed.total_seconds(), 1),
        "total": progress.total,
        "counts": {status: progress.count(status) for status in ItemStatus},
        "cost": {
            "spent_usd": float(money.spent),
            "reserved_usd": float(money.reserved),
            "budget_usd": float(money.budget) if money.budget is not None else None,
        },
        "running": [_describe_active(each) for each in progress.active],
        "waiting": [_describe_waiting(each) for each in progress.waiting],
        "queue": [_describe_queued(each) for each in progress.queue],
        "undone": [_describe_settled(each) for each in progress.undone],
        "done": [_describe_settled(each) for each in progress.done],
    }


def _describe_active(active: Active) -> dict[str, Any]:
    return {
        "id": active.item,
        "title": active.title,
        "run": active.run,
        "stage": active.stage,
        "attempt": active.number,
        "agent": active.agent,
        "is_under_way": active.is_under_way,
        "hold": active.hold,
        "since": active.since.isoformat(),
        "elapsed_sec": round(active.elapsed.total_seconds(), 1),
        "last_action": active.last_action,
        "quiet_sec": round(active.quiet.total_seconds(), 1),
        "tokens": active.tokens,
        "spent_usd": float(active.spent),
        "reserved_usd": float(active.reserved),
    }


def _describe_waiting(waiting: Waiting) -> dict[str, Any]:
    return {
        "id": waiting.item,
        "title": waiting.title,
        "reason": waiting.reason,
        "since": waiting.since.isoformat() if waiting.since else None,
        "until": waiting.until.isoformat() if waiting.until else None,
        "whom": waiting.whom,
    }


def _describe_queued(queued: Queued) -> dict[str, Any]:
    return {"id": queued.item, "title": queued.title, "priority": queued.priority, "reason": queued.reason}


def _describe_settled(settled: Settled) -> dict[str, Any]:
    return {
        "id": settled.item,
        "title": settled.title,
        "status": settled.status,
        "reason": settled.reason,
        "took_sec": round(settled.took.total_seconds(), 1) if settled.took is not None else None,
        "cost_usd": float(settled.spent),
    }
