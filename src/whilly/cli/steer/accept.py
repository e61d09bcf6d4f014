"""`whilly accept TASK COMMIT`: agree to a change that a person has to look at before it goes anywhere."""

from __future__ import annotations

import re

import click

from whilly.application.telling.going_on import name_command
from whilly.cli.exit_codes import ExitCode
from whilly.cli.render_error import printable
from whilly.cli.run_lock import find_owner
from whilly.cli.steer.person import name_person
from whilly.cli.subject import json_option, open_ledger, plan_option, print_json, require_task
from whilly.domain.errors import ConfigError

_COMMIT = re.compile(r"[0-9a-f]{7,64}")


@click.command()
@click.argument("task")
@click.argument("commit")
@click.option("--note", default="", metavar="TEXT", help="Something to say about it.")
@plan_option
@json_option
def accept(task: str, commit: str, note: str, wanted: str | None, *, as_json: bool) -> int:
    """Agree to what COMMIT changes, so that TASK may go on with it.

    COMMIT is what `whilly why TASK` names, and what you have looked at. When the work changes afterwards, it has to be
    looked at again. Who agreed to what and when is in `whilly timeline TASK`.
    """
    if not _COMMIT.fullmatch(commit.lower()):
        message = f"{commit!r} is no commit's name"
        raise ConfigError(message, remedy=f"whilly why {task} names it; seven of its letters or more are enough")
    project = open_ledger()
    plan, row = require_task(project, wanted, task)
    refusal = project.planning().accept(plan.id, row.item.id, name_person(project), commit.lower(), note)
    if as_json:
        print_json({"id": row.item.id, "is_done": not refusal, "reason": refusal})
    elif refusal:
        click.echo(printable(f"whilly: {row.item.id} cannot be accepted: {refusal}"), err=True)
    else:
        click.echo(printable(f"{row.item.id} may go on with {commit.lower()}"))
        if find_owner(project.state) is None:
            click.echo(printable(f"{name_command(plan.source, plan.name)} goes on with it"))
    return ExitCode.FAILED if refusal else ExitCode.DONE
