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


def choose_plan(project: Project, wanted: str | None) -> PlanRow:
    """The plan of that name, file or id, or of that issue; without one, the one that was worked on last.

    Raises:
        ConfigError: there is none, or there are several.
    """
    plans = project.reading.plans()
    if wanted is None:
        return plans[0]
    found = [plan for plan in plans if wanted in {plan.id, plan.source}] or [
        plan for plan in plans if _answers_to(plan, wanted)
    ]
    if not found:
        from whilly.cli.known_work import find_work  # noqa: PLC0415  (asyncio costs time, and few name one so)

        found = [plan for plan, _ in find_work(project, wanted)][:1]
    if len(found) == 1:
        return found[0]
    known = ", ".join(sorted(f"{plan.name} ({plan.source})" for plan in found or plans))
    message = f"{'there is no plan' if not found else 'there are several plans'} {wanted!r} in the ledger"
    raise ConfigError(message, remedy=f"name one of them by its file: {known}")


def require_task(project: Project, wanted: str | None, task: str) -> tuple[PlanRow, ItemRow]:
    """The one task of that name, and its plan; see `require_tasks`."""
    plan, (row,) = require_tasks(project, wanted, [task])
    return plan, row


def require_tasks(project: Project, wanted: str | None, tasks: Sequence[str]) -> tuple[PlanRow, list[ItemRow]]:
    """The tasks of these names, and the plan that has them.

    Args:
        project: whose ledger is asked.
        wanted: the plan; None is the one of those with all these tasks that was worked on last.
        tasks: ids in any case of their letters, or whatever `whilly forge` takes for a work item.

    Raises:
        ConfigError: there are none of these, or in no plan together.
        PortError: only a tracker can say what is meant, and it cannot be asked.
    """
    if wanted is not None:
        plan = choose_plan(project, wanted)
        return plan, [_find_in(project, plan, task) for task in tasks]
    plans = project.reading.plans()
    if plan_of_all := next((plan for plan in plans if _has(project, plan, tasks)), None):
        rows = project.reading.items(plan_of_all.id)
        return plan_of_all, [require_item(rows, plan_of_all, task) for task in tasks]
    found = [_find_anywhere(project, task) for task in tasks]
    plan = found[0][0]
    if other := next((task for task, (of, _) in zip(tasks, found, strict=True) if of.id != plan.id), None):
        message = f"{tasks[0]} and {other} are in no plan together"
        raise ConfigError(message, remedy="name them one after the other")
    return plan, [row for _, row in found]


def _find_in(project: Project, plan: PlanRow, task: str) -> ItemRow:
    """The task of the plan that is called so, or meant by a reference."""
    rows = project.reading.items(plan.id)
    if not is_reference(task) or _has(project, plan, [task]):
        return require_item(rows, plan, task)
    from whilly.cli.known_work import find_work  # noqa: PLC0415  (as above)

    meant = {row.item.id for of, row in find_work(project, task) if of.id == plan.id}
    return next((row for row in rows if row.item.id in meant), None) or require_item(rows, plan, task)


def _find_anywhere(project: Project, task: str) -> tuple[PlanRow, ItemRow]:
    """The task of any plan that is meant; a plain id that is unknown is looked for in the newest plan."""
    plans = project.reading.plans()
    if plan := next((plan for plan in plans if _has(project, plan, [task])), None):
        return plan, require_item(project.reading.items(plan.id), plan, task)
    from whilly.cli.known_work import find_work, refuse_unknown  # noqa: PLC0415  (as above)

    if found := find_work(project, task):
        return found[0]
    if is_reference(task):
        raise refuse_unknown(project, task)
    return plans[0], require_item(project.reading.items(plans[0].id), plans[0], task)


def is_reference(text: str) -> bool:
    """Whether it can only be meant as a reference, and is no task's id."""
    return any(mark in text for mark in ("/", "#", ":"))


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
