"""What a command is about: a repository's ledger, one of its plans, some of its tasks."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from whilly.bootstrap import open_project
from whilly.cli.context import current_directory
from whilly.cli.invocation import find_checkpoint
from whilly.cli.render_error import printable
from whilly.domain.errors import ConfigError
from whilly.tui.neutral import json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from whilly.application.telling.rows import ItemRow, PlanRow
    from whilly.bootstrap import Project

Command = TypeVar("Command", bound="Callable[..., Any]")


def plan_option(command: Command) -> Command:
    """`--plan`, for a ledger that holds several."""
    told = "The plan: its name, file or id. Without it, the one that was worked on last, of those that have the task."
    return click.option("--plan", "wanted", metavar="PLAN", help=told)(command)


def json_option(command: Command) -> Command:
    """`--json`, which every command that shows something has."""
    return click.option("--json", "as_json", is_flag=True, help="As one JSON object.")(command)


def open_ledger() -> Project:
    """The Whilly of this repository, which has worked here before; warnings are printed.

    Raises:
        ConfigError: it has not, or this is no repository.
    """
    project = open_project(current_directory(), checkpoint=find_checkpoint())
    for warning in project.loaded.warnings:
        click.echo(printable(f"whilly: warning: {warning}"), err=True)
    if not project.has_ledger or not project.reading.plans():
        message = "no plan was ever worked on in this repository"
        raise ConfigError(message, remedy="whilly run PLAN")
    return project


def choose_plan(project: Project, wanted: str | None, *tasks: str) -> PlanRow:
    """The plan of that name, file or id; without one, the one of those with all these tasks that was worked on last.

    Raises:
        ConfigError: there is none, or there are several.
    """
    plans = project.reading.plans()
    if wanted is None:
        return next((plan for plan in plans if tasks and _has(project, plan, tasks)), plans[0])
    found = [plan for plan in plans if wanted in {plan.id, plan.source}] or [
        plan for plan in plans if _answers_to(plan, wanted)
    ]
    if len(found) == 1:
        return found[0]
    known = ", ".join(sorted(f"{plan.name} ({plan.source})" for plan in found or plans))
    message = f"{'there is no plan' if not found else 'there are several plans'} {wanted!r} in the ledger"
    raise ConfigError(message, remedy=f"name one of them by its file: {known}")


def _has(project: Project, plan: PlanRow, tasks: Iterable[str]) -> bool:
    return {task.casefold() for task in tasks} <= {row.item.id.casefold() for row in project.reading.items(plan.id)}


def _answers_to(plan: PlanRow, wanted: str) -> bool:
    source = Path(plan.source)
    return wanted in {plan.name, source.name, source.stem} or Path(wanted).absolute() == source


def require_item(rows: Sequence[ItemRow], plan: PlanRow, wanted: str) -> ItemRow:
    """The task with this id, in any case of its letters.

    Raises:
        ConfigError: there is none; the message names the nearest one.
    """
    exact = [row for row in rows if row.item.id == wanted]
    found = exact or [row for row in rows if row.item.id.casefold() == wanted.casefold()]
    if len(found) == 1:
        return found[0]
    near = difflib.get_close_matches(wanted.casefold(), {row.item.id.casefold(): row for row in rows}, n=1, cutoff=0.5)
    names = {row.item.id.casefold(): row.item.id for row in rows}
    hint = f"did you mean {names[near[0]]}?" if near else "`whilly status` lists the tasks"
    message = f"there is no task {wanted!r} in plan {plan.name}"
    raise ConfigError(message, remedy=hint)


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON object, laid out for people as well."""
    click.echo(json_text(value, indent=2))
