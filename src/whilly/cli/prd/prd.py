"""`whilly prd IDEA`: a product description by an agent, and a plan made of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from whilly.bootstrap import open_project
from whilly.cli.context import current_directory
from whilly.cli.exit_codes import ExitCode
from whilly.cli.invocation import find_checkpoint
from whilly.cli.render_error import printable
from whilly.cli.work.interrupts import obey_interrupts
from whilly.tui.neutral import json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whilly.bootstrap import Project
    from whilly.domain.prd.idea import Idea


class Flags(TypedDict):
    """The options of `whilly prd`."""

    is_wizard: bool
    documents: tuple[Path, ...]
    plan: bool
    run: bool
    force: bool
    agent: str | None
    model: str | None
    isolation: str | None
    budget: float | None
    timeout: float | None
    headless: bool
    as_json: bool


_KEYS = {
    "agent": "agent.name",
    "model": "agent.model",
    "isolation": "agent.isolation",
    "budget": "run.budget_usd",
    "timeout": "run.timeout_s",
}
"""Option → setting that it overrides."""


@click.command()
@click.argument("idea", required=False)
@click.option("--wizard", "is_wizard", is_flag=True, help="Ask for the idea, one question at a time; implies --plan.")
@click.option(
    "--from",
    "documents",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Make the plan of a product description that is there, without any agent; may be given several times.",
)
@click.option("--plan", is_flag=True, help="Make a plan file of it as well, with a task for each requirement.")
@click.option("--run", is_flag=True, help="Run that plan, as `whilly run` does; implies --plan.")
@click.option("--force", is_flag=True, help="Replace files that are there.")
@click.option("--agent", metavar="NAME", help="The agent that writes.")
@click.option("--model", metavar="MODEL", help="Its model.")
@click.option(
    "--isolation",
    type=click.Choice(["open", "contained"]),
    help="Whether agents may do what you may, or are contained.",
)
@click.option(
    "--budget", type=float, metavar="USD", help="What it may cost, and then what the plan may; 0 is no limit."
)
@click.option("--timeout", type=float, metavar="SECONDS", help="End the run after this time; 0 is never.")
@click.option("--headless", is_flag=True, help="JSON lines instead of the live screen.")
@click.option("--json", "as_json", is_flag=True, help="The same as --headless.")
def prd(idea: str | None, **flags: Unpack[Flags]) -> int:
    """Let an agent describe IDEA: docs/PRD-….md, with requirements and criteria that can be checked.

    The agent works in a checkout of its own; only the document is taken from there, when nothing in it is missing.
    With --plan, .planning/…_tasks.json is made of it. For --wizard, IDEA is the answer to its first question.
    """
    if bool(flags["documents"]) == (idea is not None or flags["is_wizard"]):
        message = 'give one of these: an idea (whilly prd "a page of totals"), --wizard, or --from FILE'
        raise click.UsageError(message)
    given = {setting: flags[option] for option, setting in _KEYS.items()}  # type: ignore[literal-required]  # keys of the table
    given |= {"run.headless": True} if flags["headless"] or flags["as_json"] else {}
    with obey_interrupts():
        return _prd(idea, flags, given)


def _prd(idea: str | None, flags: Flags, given: dict[str, object]) -> ExitCode:
    from whilly.cli.prd.wizard import NAME, forget  # noqa: PLC0415  (asyncio and the engine cost time)
    from whilly.domain.prd.idea import take_idea  # noqa: PLC0415  (as above)

    project = _open(given)
    if flags["documents"]:
        plans = [_make_plan(project, each, is_replacing=flags["force"]) for each in flags["documents"]]
        return _run(given, plans) if flags["run"] else ExitCode.DONE
    taken = _interview(project, idea or "") if flags["is_wizard"] else take_idea(idea or "")
    code = _describe(project, taken, flags)
    if flags["is_wizard"] and code is ExitCode.DONE:
        forget(project.state / NAME)
    return _run(given, [taken.plan]) if flags["run"] and code is ExitCode.DONE else code


def _run(given: dict[str, object], plans: Sequence[str]) -> ExitCode:
    from whilly.cli.work.choose_plans import choose_plans  # noqa: PLC0415  (needed here only)
    from whilly.cli.work.run import work_through  # noqa: PLC0415  (as above)

    # A project anew: what the first run has spent of its time and money is no matter of this one.
    project = _open(given)
    return work_through(project, choose_plans(project.root, tuple(project.root / plan for plan in plans), is_all=False))


def _open(given: dict[str, object]) -> Project:
    project = open_project(current_directory(), given, find_checkpoint())
    for warning in project.loaded.warnings:
        click.echo(printable(f"whilly: warning: {warning}"), err=True)
    return project


def _interview(project: Project, title: str) -> Idea:
    from whilly.cli.prd.wizard import NAME, interview  # noqa: PLC0415  (as above)
    from whilly.domain.prd.idea import take_idea  # noqa: PLC0415  (as above)

    project.prepare_state()
    return take_idea(interview(project.state / NAME, title))


def _describe(project: Project, idea: Idea, flags: Flags) -> ExitCode:
    from whilly.cli.prd.produce import Wanted, write_description  # noqa: PLC0415  (as above)

    with_plan = flags["plan"] or flags["run"] or flags["is_wizard"]
    return write_description(project, idea, Wanted(with_plan, replaces=flags["force"]))


def _make_plan(project: Project, document: Path, *, is_replacing: bool) -> str:
    """Make the plan of a description that is there; the plan's path, relative to the repository."""
    from whilly.adapters.planfile.identity import relative_name, slug  # noqa: PLC0415  (as above)
    from whilly.cli.prd.produce import write_plan  # noqa: PLC0415  (as above)
    from whilly.domain.prd.idea import name_plan  # noqa: PLC0415  (as above)

    path = document.absolute()
    plan = name_plan(slug(path.stem))
    write_plan(project, path, relative_name(path, project.root), plan, replaces=is_replacing)
    if project.settings.run.headless:
        click.echo(json_text({"event": "complete", "written": [plan], "exit_code": 0}))
    else:
        click.echo(f"made {plan}; to work through it: whilly run {plan}")
    return plan
