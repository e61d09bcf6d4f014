"""`whilly retry TASK…`: let tasks go on that failed, were skipped or wait for a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from whilly.application.telling.going_on import name_command
from whilly.cli.exit_codes import ExitCode
from whilly.cli.render_error import printable
from whilly.cli.run_lock import find_owner
from whilly.cli.steer.person import name_person
from whilly.cli.subject import choose_plan, json_option, open_ledger, plan_option, print_json, require_tasks
from whilly.domain.errors import ConfigError
from whilly.domain.ids import ItemId
from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from whilly.application.telling.rows import PlanRow
    from whilly.bootstrap import Project


@dataclass(frozen=True, slots=True)
class _Answer:
    """What became of one task; `refusal` is empty when it may go on."""

    item: ItemId
    status: ItemStatus
    reason: str
    refusal: str


@click.command()
@click.argument("tasks", nargs=-1)
@click.option("--failed", "is_failed", is_flag=True, help="All failed tasks.")
@click.option("--note", default="", metavar="TEXT", help="An answer, or what to do differently: the agent is told.")
@plan_option
@json_option
def retry(tasks: tuple[str, ...], note: str, wanted: str | None, *, is_failed: bool, as_json: bool) -> int:
    """Let TASKS go on that failed, are blocked, were skipped or wait for a person.

    What was blocked by them is looked at again by itself.
    """
    if bool(tasks) == is_failed:
        message = "name the tasks, or say --failed" if not tasks else "name the tasks or say --failed, not both"
        raise ConfigError(message, remedy="whilly status lists the tasks")
    project = open_ledger()
    if is_failed:
        plan = choose_plan(project, wanted)
        items = [row.item.id for row in project.reading.items(plan.id) if row.status is ItemStatus.FAILED]
    else:
        plan, rows = require_tasks(project, wanted, tasks)
        items = list(dict.fromkeys(row.item.id for row in rows))
    answers = _retry(project, plan, items, note)
    if as_json:
        told = [{"id": a.item, "is_done": not a.refusal, "status": a.status, "reason": a.reason} for a in answers]
        print_json({"plan": plan.id, "items": told})
    else:
        _print(project, plan, answers)
    return ExitCode.FAILED if any(answer.refusal for answer in answers) else ExitCode.DONE


def _retry(project: Project, plan: PlanRow, items: list[ItemId], note: str) -> list[_Answer]:
    planning, person = project.planning(), name_person(project)
    refusals = {item: planning.retry(plan.id, item, person, note) for item in items}
    after = {row.item.id: row for row in project.reading.items(plan.id)}
    answers = []
    for item, refusal in refusals.items():
        row = after[item]
        is_stuck = row.status is ItemStatus.BLOCKED
        why = refusal or (f"it is still blocked: it {row.reason}" if is_stuck else "")
        answers.append(_Answer(item, row.status, why or row.reason, why))
    return answers


def _print(project: Project, plan: PlanRow, answers: list[_Answer]) -> None:
    if not answers:
        click.echo("No task has failed.")
    for answer in answers:
        if answer.refusal:
            click.echo(printable(f"whilly: {answer.item} cannot be tried again: {answer.refusal}"), err=True)
        else:
            click.echo(printable(f"{answer.item} is {answer.status} again"))
    if any(not answer.refusal for answer in answers) and find_owner(project.state) is None:
        click.echo(printable(f"{name_command(plan.source, plan.name)} goes on with it"))
