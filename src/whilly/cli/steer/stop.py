"""`whilly stop TASK`: end what is being done for it, without giving it up."""

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
def stop(task: str, reason: str, wanted: str | None, *, as_json: bool) -> int:
    """End what is being done for TASK: its work is saved, and it waits until `whilly retry TASK` lets it go on."""
    project = open_ledger()
    plan, row = require_task(project, wanted, task)
    person = name_person(project)
    refusal = project.planning().stop_attempt(plan.id, row.item.id, person, reason)
    problem = "" if refusal or find_owner(project.state) is not None else _end(project, row, person, reason)
    (after,) = project.reading.items(plan.id, row.item.id)
    if as_json:
        told = {"status": after.status, "reason": refusal or after.reason}
        print_json({"id": row.item.id, "is_done": not refusal, **told, "problem": problem})
    elif refusal:
        click.echo(printable(f"whilly: {row.item.id} cannot be stopped: {refusal}"), err=True)
    else:
        how = "is being stopped" if after.run is not None and after.run.has_attempt else "is stopped"
        click.echo(printable(f'{row.item.id} {how}; whilly retry {row.item.id} --note "…" lets it go on'))
    if problem:
        click.echo(printable(f"whilly: its agent could not be ended: {problem}\n  → whilly doctor --fix"), err=True)
    return ExitCode.FAILED if refusal or problem else ExitCode.DONE


def _end(project: Project, row: ItemRow, person: str, reason: str) -> str:
    """What runs is ended by the engine; where there is none, it is done here."""
    if row.run is None:
        return ""
    import asyncio  # noqa: PLC0415  (costs time; the engine is the ordinary case)

    from whilly.cli.steer.end_session import end_session  # noqa: PLC0415  (as above)

    said = f"stopped by {person}" + (f": {reason}" if reason else "")
    return asyncio.run(end_session(project, row.run, said, is_saved=True))
