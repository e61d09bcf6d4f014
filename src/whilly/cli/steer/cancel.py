"""`whilly cancel TASK`: somebody does not want it any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from whilly.cli.exit_codes import ExitCode
from whilly.cli.render_error import printable
from whilly.cli.run_lock import find_owner
from whilly.cli.steer.person import name_person
from whilly.cli.subject import json_option, open_ledger, plan_option, print_json, require_task

if TYPE_CHECKING:
    from whilly.application.telling.rows import ItemRow
    from whilly.bootstrap import Project


@click.command()
@click.argument("task")
@click.option("--reason", default="", metavar="TEXT", help="Why; it is kept in the ledger.")
@plan_option
@json_option
def cancel(task: str, reason: str, wanted: str | None, *, as_json: bool) -> int:
    """Cancel TASK: its agent is ended, its work so far stays on its branch, what depends on it is blocked."""
    project = open_ledger()
    plan, row = require_task(project, wanted, task)
    refusal = project.recorder.cancel(plan.id, row.item.id, name_person(project), reason)
    problem = "" if refusal or find_owner(project.state) is not None else _end_session(project, row, reason)
    (after,) = project.reading.items(plan.id, row.item.id)
    if as_json:
        print_json(
            {"id": row.item.id, "is_done": not refusal, "status": after.status, "reason": refusal or after.reason}
        )
    elif refusal:
        click.echo(printable(f"whilly: {row.item.id} cannot be cancelled: {refusal}"), err=True)
    else:
        click.echo(printable(f"{row.item.id} is {after.status}: {after.reason}"))
    if problem:
        click.echo(printable(f"whilly: its agent could not be ended: {problem}\n  → whilly doctor --fix"), err=True)
    return ExitCode.FAILED if refusal or problem else ExitCode.DONE


def _end_session(project: Project, row: ItemRow, reason: str) -> str:
    """What runs is ended by the engine; where there is none, it is done here."""
    if row.run is None or row.run.is_ended:
        return ""
    import asyncio  # noqa: PLC0415  (costs time; there is rarely something to end)

    from whilly.cli.steer.end_session import end_session  # noqa: PLC0415  (as above)

    return asyncio.run(end_session(project, row.run, reason or "cancelled"))
