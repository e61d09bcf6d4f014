"""`whilly say TASK TEXT`: a word to whoever works on it next."""

from __future__ import annotations

import click

from whilly.cli.exit_codes import ExitCode
from whilly.cli.render_error import printable
from whilly.cli.steer.person import name_person
from whilly.cli.subject import json_option, open_ledger, plan_option, print_json, require_task
from whilly.domain.errors import ConfigError

MAX_TEXT = 20_000
"""Characters; longer texts belong into a file of the repository."""


@click.command()
@click.argument("task")
@click.argument("text")
@plan_option
@json_option
def say(task: str, text: str, wanted: str | None, *, as_json: bool) -> int:
    """Tell TEXT to whoever works on TASK next; every later attempt of it is told as well.

    No agent that Whilly knows takes a message while it works. A person who has the task sees it at once.
    """
    said = " ".join(text.split())
    if not said or len(said) > MAX_TEXT:
        message = "there is nothing to say" if not said else f"the text is longer than {MAX_TEXT} characters"
        raise ConfigError(message, remedy='whilly say TASK "…"')
    project = open_ledger()
    plan, row = require_task(project, wanted, task)
    refusal = project.planning().say(plan.id, row.item.id, name_person(project), said)
    run = row.run if row.run is not None and not row.run.is_ended else None
    is_heard = run is not None and run.wait is not None and run.wait.is_handed_over
    if as_json:
        told = {"is_done": not refusal, "is_heard_now": is_heard and not refusal, "reason": refusal}
        print_json({"id": row.item.id, **told})
    elif refusal:
        click.echo(printable(f"whilly: {row.item.id} cannot be told: {refusal}"), err=True)
    elif is_heard:
        click.echo(printable(f"it is with the task: whilly handoff show {row.item.id}"))
    else:
        click.echo(printable(f"the next attempt at {row.item.id} is told"))
        if run is not None and run.has_attempt:
            again = f"whilly stop {row.item.id} and whilly retry {row.item.id} begin it now"
            click.echo(printable(f"the one under way takes no message; {again}"))
    return ExitCode.FAILED if refusal else ExitCode.DONE
