"""`whilly reset [PLAN]`: start a plan all over."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whilly.bootstrap import open_project
from whilly.cli.context import current_directory
from whilly.cli.exit_codes import ExitCode
from whilly.cli.invocation import find_checkpoint
from whilly.cli.render_error import printable
from whilly.cli.run_lock import hold_lock
from whilly.cli.subject import choose_plan, json_option, open_ledger, print_json
from whilly.cli.work.choose_plans import choose_plans
from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whilly.application.telling.rows import PlanRow
    from whilly.bootstrap import Project
    from whilly.domain.ids import PlanId


@click.command()
@click.argument("plans", nargs=-1)
@click.option("--yes", is_flag=True, help="Do it without asking.")
@json_option
def reset(plans: tuple[str, ...], *, yes: bool, as_json: bool) -> int:
    """Make every task of PLANS pending again; without one, of the plan that was worked on last.

    Tasks that a plan file calls done, failed or skipped are pending too; the file itself is not changed. What was
    spent, what has happened and the commits stay. It is refused while whilly is at work in the repository.
    """
    project, chosen = _choose(plans)
    with hold_lock(project.state, tuple(row.name for row in chosen.values()), project.clock.now()):
        if not yes and not _is_confirmed(chosen.values()):
            click.echo("Nothing was changed.")
            return ExitCode.DONE
        done = [(row, *_reset(project, row)) for row in chosen.values()]
    if as_json:
        told = [{"plan": row.id, "name": row.name, "changed": n, "problems": problems} for row, n, problems in done]
        print_json({"plans": told})
    else:
        for row, changed, _ in done:
            click.echo(printable(f"{row.name}: {changed} tasks are pending again"))
    problems = [problem for _, _, some in done for problem in some]
    for problem in problems:
        click.echo(printable(f"whilly: an agent could not be ended: {problem}\n  → whilly doctor --fix"), err=True)
    return ExitCode.FAILED if problems else ExitCode.DONE


def _choose(names: tuple[str, ...]) -> tuple[Project, dict[PlanId, PlanRow]]:
    """All of them, before anything is changed; a plan file that was never worked on is taken in."""
    files = [Path(name) for name in names if os.path.isfile(name)]  # noqa: PTH113  (never an error)
    project = open_project(current_directory(), checkpoint=find_checkpoint()) if files else open_ledger()
    known = {row.source for row in project.reading.plans()} if project.has_ledger else set()
    fresh = tuple(path for path in files if str(path.absolute()) not in known)
    for plan in choose_plans(project.root, fresh, is_all=False) if fresh else ():
        project.planning().import_plan(plan)
    rows = [choose_plan(project, name) for name in names or (None,)]
    return project, {row.id: row for row in rows}


def _reset(project: Project, plan: PlanRow) -> tuple[int, list[str]]:
    """How many tasks were not pending, and which agents could not be ended."""
    runs = [row.run for row in project.reading.items(plan.id) if row.run is not None and not row.run.is_ended]
    changed = project.planning().reset(plan.id)
    if not runs:
        return changed, []
    from whilly.cli.steer.end_session import end_session  # noqa: PLC0415  (there is rarely something to end)

    problems = [asyncio.run(end_session(project, run, "the plan was reset")) for run in runs]
    return changed, [problem for problem in problems if problem]


def _is_confirmed(plans: Iterable[PlanRow]) -> bool:
    if not sys.stdin.isatty():
        message = "there is no terminal to ask for confirmation on, so nothing was changed"
        raise ConfigError(message, remedy="whilly reset --yes")
    named = ", ".join(f"{plan.name} ({plan.source})" for plan in plans)
    return click.confirm(printable(f"Make every task of {named} pending again?"), default=False)
