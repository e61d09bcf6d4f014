"""`whilly attach`: read along while agents work."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING

import click

from whilly.cli.exit_codes import ExitCode
from whilly.cli.inspect.follow import LOOK_SECONDS, Tail
from whilly.cli.inspect.peek import is_person
from whilly.cli.inspect.session_log import head_line, read_log
from whilly.cli.render_error import printable
from whilly.cli.run_lock import find_owner
from whilly.cli.subject import choose_plan, json_option, open_ledger, plan_option, require_tasks
from whilly.domain.errors import ConfigError
from whilly.domain.ids import ItemId
from whilly.tui.neutral import json_text

if TYPE_CHECKING:
    from whilly.application.telling.rows import AttemptRow, ItemRow, PlanRow
    from whilly.bootstrap import Project

BEFORE = 50
"""How many earlier actions are shown first."""


@click.command()
@click.argument("tasks", nargs=-1)
@click.option("--tmux", "has_panes", is_flag=True, help="A pane of tmux for each of them; none is left behind.")
@plan_option
@json_option
def attach(tasks: tuple[str, ...], wanted: str | None, *, has_panes: bool, as_json: bool) -> int:
    """Read along what the agents of TASKS do until their attempts end; without a name, those of all running tasks.

    It only reads: Ctrl-C leaves the agent at work. With --json, one object a line.
    """
    project = open_ledger()
    if tasks:
        plan, chosen = require_tasks(project, wanted, tasks)
    else:
        plan = choose_plan(project, wanted)
        chosen = [row for row in project.reading.items(plan.id) if _is_at_work(project, row)]
    found = [(row, _find_attempt(project, plan, row)) for row in chosen]
    refusals = [f"{row.item.id}: {told}" for row, told in found if isinstance(told, str)]
    refusals = refusals or ([] if found else ["nothing is being done in this plan"])
    for refusal in refusals:
        click.echo(printable(f"whilly: there is nothing to read along: {refusal}"), err=True)
    if refusals:
        return ExitCode.FAILED
    if has_panes:
        return _show_panes(project, plan, [row for row, _ in found])
    if len(found) > 1:
        names = ", ".join(row.item.id for row, _ in found)
        message = f"several agents are at work: {names}"
        raise ConfigError(message, remedy="name one of them, or whilly attach --tmux for a pane each")
    ((_, attempt),) = found
    if not isinstance(attempt, str):
        _follow(project, plan, attempt, as_json=as_json)
    return ExitCode.DONE


def _is_at_work(project: Project, row: ItemRow) -> bool:
    """Whether an agent, and no check or person, is at work for it."""
    return row.run is not None and row.run.has_attempt and project.reading.stage(row.run).is_agent and not row.run.wait


def _find_attempt(project: Project, plan: PlanRow, row: ItemRow) -> AttemptRow | str:
    """The attempt under way; why there is none that one could read."""
    if row.run is None or row.run.is_ended or not row.run.has_attempt:
        return f"nothing is being done for it, it is {row.status} → whilly why {row.item.id}"
    attempts = project.reading.attempts(plan.id, row.item.id)
    current = next((each for each in attempts if each.run == row.run.id and each.number == row.run.attempt), None)
    if current is None or not current.agent:
        return f"it is at stage {row.run.stage}, where no agent works → whilly logs {row.item.id} -f"
    if is_person(project, current.agent):
        return f"it is in a person's hands → whilly handoff show {row.item.id}"
    return current


def _follow(project: Project, plan: PlanRow, attempt: AttemptRow, *, as_json: bool) -> None:
    def tell(text: str, kind: str = "activity") -> None:
        from whilly.tui.neutral import one_line  # noqa: PLC0415  (needed while following only)

        click.echo(
            json_text({"event": kind, "task_id": attempt.item, "text": text}) if as_json else one_line(text, 500)
        )

    if not as_json:
        click.echo(printable(head_line(attempt)))
    log = read_log(project, attempt, BEFORE)
    for action in log.actions:
        tell(action)
    tail = Tail(project, attempt, log.offset)
    while True:
        rows = project.reading.attempts(plan.id, ItemId(attempt.item))
        now = next(each for each in rows if (each.run, each.number) == (attempt.run, attempt.number))
        is_over = now.result is not None or (find_owner(project.state) is None and not tail.is_alive())
        for text in tail.read_news():
            tell(text)
        if is_over:
            break
        time.sleep(LOOK_SECONDS)
    if now.result is not None:
        reason = f": {now.result.reason}" if now.result.reason else ""
        tell(f"{now.result.outcome}{reason}", "ended")


def _show_panes(project: Project, plan: PlanRow, rows: list[ItemRow]) -> int:
    from whilly.cli.inspect.panes import show_panes  # noqa: PLC0415  (seldom needed)

    program = shutil.which("tmux", path=project.loaded.environment.get("PATH"))
    if program is None:
        message = "tmux is not installed"
        raise ConfigError(message, remedy="install tmux, or name one task: whilly attach TASK")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        message = "tmux needs a terminal, and this is none"
        raise ConfigError(message, remedy="whilly attach TASK, which needs none")
    commands = [
        (
            row.item.id,
            (sys.executable, "-m", "whilly", "-C", str(project.root), "attach", row.item.id, "--plan", plan.id),
        )
        for row in rows
    ]
    return show_panes(program, commands, project.loaded.environment)
