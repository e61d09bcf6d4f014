"""`whilly handoff`: take work that is handed to people, and give it back."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import click

from whilly.cli.exit_codes import ExitCode
from whilly.cli.handoff.entries import Entry, find_entries, require_entry
from whilly.cli.inspect.printing import print_lines
from whilly.cli.render_error import printable
from whilly.cli.run_lock import find_owner
from whilly.cli.steer.person import name_person
from whilly.cli.subject import (
    choose_plan,
    is_reference,
    json_option,
    open_ledger,
    plan_option,
    print_json,
    require_task,
)
from whilly.domain.attempt import Usage
from whilly.domain.errors import RuleViolation
from whilly.domain.handoff import Answer, AnswerStatus, HandoffState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whilly.bootstrap import Project

_TOO_LATE = 10**9


@click.group()
def handoff() -> None:
    """Take work that is handed to people, and give it back."""


@handoff.command("list")
@click.option("--all", "is_all", is_flag=True, help="Those that are over as well.")
@plan_option
@json_option
def list_(wanted: str | None, *, is_all: bool, as_json: bool) -> None:
    """List what waits for a person."""
    project, entries = _open(wanted)
    shown = [entry for entry in entries if is_all or entry.is_current]
    if as_json:
        print_json({"handoffs": [_describe(entry) for entry in shown]})
        return
    print_lines(lambda _: _render_list(shown, project))


@handoff.command()
@click.argument("task")
@plan_option
@json_option
def show(task: str, wanted: str | None, *, as_json: bool) -> None:
    """Show what is to be done for TASK, where, and how to give it back. TASK may be the hand-off's own name."""
    project, entries = _open(wanted)
    entry = _require(project, entries, task)
    prompt = asyncio.run(project.handoffs.read_prompt(entry.attempt))
    if as_json:
        print_json({**_describe(entry), "prompt": prompt})
        return
    print_lines(lambda _: _render(entry, prompt, project))


class Details(TypedDict):
    """What may be said beside the status."""

    message: str
    whom: str
    cost_usd: float | None
    num_turns: int
    duration_s: float | None
    input_tokens: int
    output_tokens: int


@handoff.command()
@click.argument("task")
@click.option(
    "--status",
    type=click.Choice([str(status) for status in AnswerStatus]),
    default=str(AnswerStatus.COMPLETE),
    show_default=True,
    help="What came of it.",
)
@click.option("-m", "--message", default="", metavar="TEXT", help="What was done, what is in the way, what is asked.")
@click.option("--for", "whom", default="", metavar="NAME", help="Who has to act, of blocked and human_loop.")
@click.option("--cost-usd", type=click.FloatRange(0, 10**6), metavar="USD", help="What it cost.")
@click.option("--num-turns", type=click.IntRange(0, 10**9), default=0, metavar="N", help="Turns of a conversation.")
@click.option("--duration-s", type=click.FloatRange(0, _TOO_LATE), metavar="SECONDS", help="How long it took.")
@click.option("--input-tokens", type=click.IntRange(0, 10**12), default=0, metavar="N", help="Tokens read.")
@click.option("--output-tokens", type=click.IntRange(0, 10**12), default=0, metavar="N", help="Tokens written.")
@plan_option
@json_option
def complete(task: str, status: str, wanted: str | None, *, as_json: bool, **details: Unpack[Details]) -> int:
    """Give TASK back: complete, failed, blocked, human_loop (somebody has to decide) or partial (the rest is left)."""
    project, entries = _open(wanted)
    entry = _require(project, entries, task)
    answer = _make_answer(AnswerStatus(status), name_person(project), details)
    refusal = _give_back(project, entry, answer)
    if as_json:
        print_json({**_describe(entry), "is_done": not refusal, "answer": answer.status, "refusal": refusal})
    elif refusal:
        click.echo(printable(f"whilly: {entry.item} cannot be given back: {refusal}"), err=True)
    else:
        click.echo(printable(f"{entry.item} is given back as {answer.status}"))
        if find_owner(project.state) is None:
            click.echo(printable(f"the next `{entry.again}` takes it up"))
    return ExitCode.FAILED if refusal else ExitCode.DONE


def _open(wanted: str | None) -> tuple[Project, list[Entry]]:
    project = open_ledger()
    plans = project.reading.plans() if wanted is None else [choose_plan(project, wanted)]
    return project, asyncio.run(find_entries(project, plans))


def _require(project: Project, entries: Sequence[Entry], task: str) -> Entry:
    """The hand-off of this name, or of the task that is meant."""
    if not is_reference(task) or any(task in {entry.name, entry.attempt, entry.item} for entry in entries):
        return require_entry(entries, task)
    _, row = require_task(project, None, task)
    return require_entry(entries, row.item.id)


def _make_answer(status: AnswerStatus, by: str, details: Details) -> Answer:
    cost, seconds = details["cost_usd"], details["duration_s"]
    usage = Usage(
        cost_usd=Decimal(str(cost)) if cost is not None else None,
        input_tokens=details["input_tokens"],
        output_tokens=details["output_tokens"],
        turns=details["num_turns"],
    )
    took = timedelta(seconds=seconds) if seconds is not None else None
    return Answer(status, details["message"], by, details["whom"], usage, took)


def _give_back(project: Project, entry: Entry, answer: Answer) -> str:
    if not entry.is_current:
        how = f"its attempt ended as {entry.outcome}" if entry.outcome else "the ledger does not know its attempt"
        return f"{entry.name} is not under way any more: {how}"
    try:
        asyncio.run(project.handoffs.answer(entry.attempt, answer))
    except RuleViolation as error:
        return error.message
    return ""


def _render_list(entries: Sequence[Entry], project: Project) -> Iterator[str]:
    from whilly.tui.neutral import one_line  # noqa: PLC0415  (`--json` needs none of it)
    from whilly.tui.words import clock_time  # noqa: PLC0415  (as above)

    if not entries:
        yield "Nothing waits for a person."
    for entry in entries:
        started = entry.standing.handoff.started_at if entry.standing.handoff else None
        since = f", since {clock_time(started, project.clock.now())}" if started else ""
        yield one_line(f"{entry.item}  {entry.state}{since}: {entry.title}", 300)
        yield one_line(f"  {entry.standing.place}", 500)
        if entry.standing.problem:
            yield one_line(f"  ! {entry.standing.problem}", 500)
        if entry.is_ignored:
            yield f"  ! its answer was not taken: its attempt had ended as {entry.outcome}"


def _render(entry: Entry, prompt: str, project: Project) -> Iterator[str]:
    from whilly.tui.neutral import block, one_line  # noqa: PLC0415  (as above)

    yield from _render_list([entry], project)
    if entry.standing.handoff is not None:
        branch = f" (branch {entry.standing.handoff.branch})" if entry.standing.handoff.branch else ""
        yield one_line(f"  work in {entry.standing.handoff.workspace}{branch}; you need not commit", 500)
    if entry.is_waiting:
        yield one_line(f"  → whilly handoff complete {entry.item}", 300)
        choices = "failed, blocked, human_loop or partial"
        yield one_line(f'  → whilly handoff complete {entry.item} --status S -m "…"   S is {choices}', 300)
    for note in entry.notes:
        yield f"  {one_line(note, 1000)}"
    yield ""
    yield from block(prompt).splitlines()


def _describe(entry: Entry) -> dict[str, Any]:
    found, answer = entry.standing.handoff, entry.standing.answer
    started_at = found.started_at if found else None
    return {
        "name": entry.name,
        "id": entry.item,
        "title": entry.title,
        "plan": entry.plan or None,
        "attempt": entry.attempt,
        "state": entry.state,
        "is_current": entry.is_current,
        "since": started_at.isoformat() if started_at else None,
        "place": entry.standing.place,
        "workspace": found.workspace if found else None,
        "branch": found.branch if found else None,
        "answer": answer.status if answer and entry.standing.state is HandoffState.ANSWERED else None,
        "is_ignored": entry.is_ignored,
        "problem": entry.standing.problem,
        "notes": list(entry.notes),
    }
