"""`whilly run --dry-run`: what would start, in which order, and why the rest waits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from whilly.cli.exit_codes import ExitCode
from whilly.cli.render_error import printable
from whilly.domain.schedule import preview
from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from whilly.bootstrap import Project
    from whilly.domain.ids import ItemId
    from whilly.domain.plan import Plan
    from whilly.domain.schedule import Preview


def show_preview(project: Project, plans: list[Plan], *, as_json: bool) -> ExitCode:
    """Print the order of work of each plan; nothing is started and nothing is written."""
    parallel = project.settings.run.parallel
    for plan in plans:
        statuses = _statuses(project, plan)
        seen = preview(plan, parallel, statuses)
        if as_json:
            click.echo(json.dumps(_as_json(plan, parallel, seen), ensure_ascii=False))
        else:
            _print(plan, parallel, seen, statuses)
    return ExitCode.DONE


def _statuses(project: Project, plan: Plan) -> dict[ItemId, ItemStatus]:
    """Where the items stand: the ledger knows it better than the file, as soon as it knows the plan."""
    known: dict[ItemId, ItemStatus] = {}
    if project.has_ledger and any(row.id == plan.id for row in project.reading.plans()):
        known = {row.item.id: row.status for row in project.reading.items(plan.id)}
    return {item.id: known.get(item.id, plan.statuses.get(item.id, ItemStatus.PENDING)) for item in plan.items}


def _print(plan: Plan, parallel: int, seen: Preview, statuses: dict[ItemId, ItemStatus]) -> None:
    click.echo(printable(f"{plan.name}: {len(plan.items)} tasks, {parallel} at a time"))
    titles = {item.id: item.title for item in plan.items}
    for number, wave in enumerate(seen.waves, start=1):
        click.echo(f"{'starts now' if number == 1 else f'then ({number})'}:")
        for item in wave:
            why = f"  — {seen.waiting[item]}" if item in seen.waiting else ""
            click.echo(printable(f"  {item}  {titles[item]}{why}"))
    for blocked in seen.blocked:
        click.echo(printable(f"blocked:\n  {blocked.item}  — {blocked.reason}"))
    over = [item for item, status in statuses.items() if status not in {ItemStatus.PENDING, ItemStatus.IN_PROGRESS}]
    if over:
        click.echo(printable("not started: " + ", ".join(f"{item} ({statuses[item]})" for item in over)))


def _as_json(plan: Plan, parallel: int, seen: Preview) -> dict[str, object]:
    return {
        "event": "preview",
        "plan": plan.name,
        "parallel": parallel,
        "waves": [list(wave) for wave in seen.waves],
        "waiting": {item: str(why) for item, why in seen.waiting.items()},
        "blocked": {blocked.item: blocked.reason for blocked in seen.blocked},
    }
