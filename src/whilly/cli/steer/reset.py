"""`whilly reset [PLAN]`: start a plan all over."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from whilly.cli.exit_codes import ExitCode
from whilly.cli.render_error import printable
from whilly.cli.run_lock import hold_lock
from whilly.cli.subject import choose_plan, json_option, open_ledger, print_json
from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from whilly.application.telling.rows import PlanRow
    from whilly.bootstrap import Project


@click.command()
@click.argument("plan", required=False)
@click.option("--yes", is_flag=True, help="Do it without asking.")
@json_option
def reset(plan: str | None, *, yes: bool, as_json: bool) -> int:
    """Make every task of PLAN pending again.

    What was spent, what has happened and the commits stay. It is refused while whilly is at work in the repository.
    """
    project = open_ledger()
    chosen = choose_plan(project, plan)
    with hold_lock(project.state, (chosen.name,), project.clock.now()):
        if not yes and not _is_confirmed(chosen):
            click.echo("Nothing was changed.")
            return ExitCode.DONE
        changed, problems = _reset(project, chosen)
    if as_json:
        print_json({"plan": chosen.id, "name": chosen.name, "changed": changed, "problems": problems})
    else:
        click.echo(printable(f"{chosen.name}: {changed} tasks are pending again"))
    for problem in problems:
        click.echo(printable(f"whilly: an agent could not be ended: {problem}\n  → whilly doctor --fix"), err=True)
    return ExitCode.FAILED if problems else ExitCode.DONE


def _reset(project: Project, plan: PlanRow) -> tuple[int, list[str]]:
    """How many tasks were not pending, and which agents could not be ended."""
    runs = [row.run for row in project.reading.items(plan.id) if row.run is not None and not row.run.is_ended]
    changed = project.planning().reset(plan.id)
    if not runs:
        return changed, []
    from whilly.cli.steer.end_session import end_session  # noqa: PLC0415  (there is rarely something to end)

    problems = [asyncio.run(end_session(project, run, "the plan was reset")) for run in runs]
    return changed, [problem for problem in problems if problem]


def _is_confirmed(plan: PlanRow) -> bool:
    if not sys.stdin.isatty():
        message = "there is no terminal to ask for confirmation on, so nothing was changed"
        raise ConfigError(message, remedy="whilly reset --yes")
    return click.confirm(printable(f"Make every task of {plan.name} ({plan.source}) pending again?"), default=False)
