"""`whilly logs TASK`: what its agents did, and what its checks said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from whilly.cli.exit_codes import ExitCode
from whilly.cli.inspect.follow import follow_output
from whilly.cli.inspect.session_log import head_line, read_log, write_raw
from whilly.cli.subject import json_option, open_ledger, plan_option, print_json, require_task
from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whilly.application.telling.rows import AttemptRow
    from whilly.cli.inspect.session_log import SessionLog

LINES = 200
"""How many actions of each attempt are shown when nothing else is asked for."""


@click.command()
@click.argument("task")
@click.option("-f", "--follow", is_flag=True, help="Go on as long as the task is worked on.")
@click.option("--attempt", metavar="N", help="One attempt only; R/N is attempt N of the task's R-th run.")
@click.option("--raw", is_flag=True, help="The agent's own output, byte by byte.")
@click.option("-n", "--lines", type=click.IntRange(min=0), default=LINES, help="Actions of each attempt; 0 is all.")
@plan_option
@json_option
def logs(task: str, attempt: str | None, lines: int, wanted: str | None, **flags: bool) -> int:
    """Show what the agents of TASK did, and what its checks said."""
    project = open_ledger()
    plan, row = require_task(project, wanted, task)
    attempts = project.reading.attempts(plan.id, row.item.id)
    chosen = _choose(attempts, attempt, row.run.id if row.run else "")
    if flags["raw"]:
        for each in chosen:
            write_raw(project, each)
        return ExitCode.DONE
    found = [read_log(project, each, lines) for each in chosen]
    if flags["as_json"]:
        print_json({"id": row.item.id, "plan": plan.id, "attempts": [_describe(log) for log in found]})
        return ExitCode.DONE
    if not found and not flags["follow"]:
        click.echo("Nothing has been tried yet.")
    for log in found:
        for line in render_log(log):
            click.echo(line)
    if flags["follow"]:
        follow_output(project, plan.id, row.item.id, found)
    return ExitCode.DONE


def _choose(attempts: Sequence[AttemptRow], wanted: str | None, run: str) -> list[AttemptRow]:
    """The attempts of the newest run, or the one that was asked for.

    Raises:
        ConfigError: there is no such attempt.
    """
    if wanted is None:
        return [each for each in attempts if each.run == run]
    number_of_run, _, number = wanted.rpartition("/")
    name = f"{run.rpartition('-')[0]}-{number_of_run}" if number_of_run else run
    found = [each for each in attempts if each.run == name and str(each.number) == number]
    if not found:
        known = ", ".join(f"{each.run.rpartition('-')[2]}/{each.number}" for each in attempts) or "none"
        message = f"there is no attempt {wanted!r}"
        raise ConfigError(message, remedy=f"there are: {known}")
    return found


def render_log(log: SessionLog) -> Iterator[str]:
    """One attempt's log, for people."""
    from whilly.tui.neutral import block, one_line  # noqa: PLC0415  (`--raw` and `--json` need none of it)

    yield one_line(head_line(log.attempt), 300)
    if log.is_cut:
        yield "  … (earlier output is left out; --raw has all of it)"
    for action in log.actions:
        yield f"  {one_line(action, 500)}"
    if log.message:
        yield "  says:"
        yield from (f"  > {line}" for line in block(log.message).splitlines())
    for line in block(log.stderr).splitlines():
        yield f"  stderr: {line}"
    yield from _render_result(log.attempt)


def _render_result(attempt: AttemptRow) -> Iterator[str]:
    from whilly.tui.neutral import block, one_line  # noqa: PLC0415  (as above)

    result = attempt.result
    if result is None:
        return
    if result.reason:
        yield f"  {result.outcome}: {one_line(result.reason, 500)}"
    evidence = result.evidence
    if evidence is not None and evidence.command:
        code = "ended by its time limit" if evidence.exit_code is None else f"exit code {evidence.exit_code}"
        yield f"  $ {one_line(evidence.command, 500)}   → {code}"
        yield from (f"  | {line}" for line in block(evidence.output).splitlines())


def _describe(log: SessionLog) -> dict[str, Any]:
    attempt, result = log.attempt, log.attempt.result
    evidence = result.evidence if result else None
    return {
        "run": attempt.run,
        "attempt": attempt.number,
        "stage": attempt.stage,
        "agent": attempt.agent,
        "started_at": attempt.started_at.isoformat(),
        "ended_at": attempt.ended_at.isoformat() if attempt.ended_at else None,
        "outcome": result.outcome if result else None,
        "reason": result.reason if result else "",
        "actions": list(log.actions),
        "is_cut": log.is_cut,
        "message": log.message,
        "stderr": log.stderr,
        "command": evidence.command if evidence else "",
        "exit_code": evidence.exit_code if evidence else None,
        "output": evidence.output if evidence else "",
        "home": str(log.home),
    }
