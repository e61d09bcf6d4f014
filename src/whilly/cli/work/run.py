"""`whilly run`: work through plans."""

from __future__ import annotations

import asyncio
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from whilly.bootstrap import open_project
from whilly.cli.context import current_directory
from whilly.cli.invocation import find_checkpoint
from whilly.cli.render_error import printable
from whilly.cli.work.interrupts import catch_interrupts, obey_interrupts

if TYPE_CHECKING:
    from whilly.bootstrap import Project
    from whilly.cli.exit_codes import ExitCode
    from whilly.domain.plan import Plan


class Flags(TypedDict):
    """The options of `whilly run`."""

    is_all: bool
    parallel: int | None
    agent: str | None
    model: str | None
    isolation: str | None
    budget: float | None
    timeout: float | None
    max_iterations: int | None
    max_attempts: int | None
    resume: bool
    headless: bool
    as_json: bool
    dry_run: bool
    watch: bool


_KEYS = {
    "parallel": "run.parallel",
    "agent": "agent.name",
    "model": "agent.model",
    "isolation": "agent.isolation",
    "budget": "run.budget_usd",
    "timeout": "run.timeout_s",
    "max_iterations": "run.max_iterations",
    "max_attempts": "run.max_attempts",
}
"""Option → setting that it overrides."""


@click.command()
@click.argument("plans", nargs=-1, type=click.Path(path_type=Path))
@click.option("--all", "is_all", is_flag=True, help="All plans: tasks.json and .planning/*tasks*.json.")
@click.option("--parallel", type=int, metavar="N", help="Agents at the same time.")
@click.option("--agent", metavar="NAME", help="The agent of tasks that name none: claude, demo, or one of your own.")
@click.option("--model", metavar="MODEL", help="The model of tasks that name none.")
@click.option(
    "--isolation",
    type=click.Choice(["open", "contained"]),
    help="Whether agents may do what you may, or are contained.",
)
@click.option("--budget", type=float, metavar="USD", help="What the plan may cost; 0 is no limit.")
@click.option("--timeout", type=float, metavar="SECONDS", help="End the run after this time; 0 is never.")
@click.option("--max-iterations", type=int, metavar="N", help="Agent attempts that this run may start; 0 is no limit.")
@click.option("--max-attempts", type=int, metavar="N", help="Tries that one stage of a task gets.")
@click.option("--resume", is_flag=True, help="Go on where the last run was left; that is always so.")
@click.option("--headless", is_flag=True, help="JSON lines instead of the live screen.")
@click.option("--json", "as_json", is_flag=True, help="The same as --headless.")
@click.option("--dry-run", is_flag=True, help="Show what would start, in which order, and why the rest waits.")
@click.option("--watch", is_flag=True, help="If whilly is at work here already, look on.")
def run(plans: tuple[Path, ...], **flags: Unpack[Flags]) -> int:
    """Work through PLANS: agents do the tasks, Whilly verifies and integrates them.

    Without a name it is tasks.json, or the only plan in .planning/.
    """
    given = {setting: flags[option] for option, setting in _KEYS.items()}  # type: ignore[literal-required]  # keys of the table
    given |= {"run.headless": True} if flags["headless"] or flags["as_json"] else {}
    with obey_interrupts():
        return _run(open_project(current_directory(), given, find_checkpoint()), plans, flags)


def _run(project: Project, plans: tuple[Path, ...], flags: Flags) -> ExitCode:
    for warning in project.loaded.warnings:
        click.echo(printable(f"whilly: warning: {warning}"), err=True)
    if flags["watch"] and (code := _look_on(project)) is not None:
        return code
    from whilly.cli.work.choose_plans import choose_plans  # noqa: PLC0415  (not needed to look on)

    chosen = choose_plans(project.root, plans, is_all=flags["is_all"])
    if flags["dry_run"]:
        from whilly.cli.work.dry_run import show_preview  # noqa: PLC0415  (needed here only)

        return show_preview(project, chosen, as_json=flags["as_json"])
    return work_through(project, chosen)


def _look_on(project: Project) -> ExitCode | None:
    from whilly.cli.work.watch import look_on  # noqa: PLC0415  (needed here only)

    return look_on(project)


def work_through(project: Project, plans: list[Plan]) -> ExitCode:
    """Work on the plans one after the other; the worst of their exit codes.

    Raises:
        WhillyError: something that all of it needs is not as it should be; nothing was started.
    """
    from whilly.cli.run_lock import hold_lock  # noqa: PLC0415  (asyncio costs time)
    from whilly.cli.work.allowance import Allowance  # noqa: PLC0415  (as above)
    from whilly.cli.work.leftovers import clear_scratch  # noqa: PLC0415  (as above)
    from whilly.cli.work.loop import work_on  # noqa: PLC0415  (asyncio costs time)
    from whilly.cli.work.preflight import prepare_branches, require_agents, require_repository, require_tier  # noqa: PLC0415  (as above)

    base = asyncio.run(require_repository(project))
    asyncio.run(require_tier(project, plans))
    for plan in plans:
        asyncio.run(require_agents(project, plan))
        _tell_unchecked(project, plan)
    project.prepare_state()
    names = tuple(plan.name for plan in plans)
    with hold_lock(project.state, names, project.clock.now()):
        # All of them first: a branch that cannot be used is to be known before anything is started.
        for plan in plans:
            asyncio.run(prepare_branches(project, plan, base))
        try:
            with catch_interrupts() as interrupts:
                allowance = Allowance.of(project.settings.run, project.clock, interrupts)
                return max(
                    work_on(project, plan, asyncio.run(prepare_branches(project, plan, base)), allowance)
                    for plan in plans
                )
        finally:
            # Once more, where something has cut the work short.
            deque(clear_scratch(project), maxlen=0)


def _tell_unchecked(project: Project, plan: Plan) -> None:
    """Say so when nothing would prove a task: neither the repository's checks nor steps of its own."""
    bare = [item.id for item in plan.items if not item.test_steps]
    if project.settings.profile.verify or not bare:
        return
    some = ", ".join(bare[:5]) + (", …" if len(bare) > 5 else "")  # noqa: PLR2004  (enough to recognise them)
    note = (
        f"nothing checks {some}: no test_steps, and no profile.verify in whilly.toml (`whilly init` finds the checks)"
    )
    click.echo(printable(f"whilly: warning: {note}"), err=True)
