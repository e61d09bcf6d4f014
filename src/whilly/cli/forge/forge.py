"""`whilly forge REF`: one issue in, one pull request out; and what is asked of that afterwards."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from whilly.bootstrap import open_project
from whilly.cli.context import current_directory
from whilly.cli.invocation import find_checkpoint
from whilly.cli.render_error import printable
from whilly.cli.tell_wait import emit_wait, tell_wait
from whilly.cli.work.interrupts import catch_interrupts, obey_interrupts
from whilly.domain.flow.plan_run import FORGE

if TYPE_CHECKING:
    from whilly.bootstrap import Project
    from whilly.cli.exit_codes import ExitCode


class Flags(TypedDict):
    """The options of `whilly forge`."""

    agent: str | None
    model: str | None
    isolation: str | None
    parallel: int | None
    budget: float | None
    timeout: float | None
    max_attempts: int | None
    draft: bool | None
    watch: bool
    headless: bool
    as_json: bool


_KEYS = {
    "agent": "agent.name",
    "model": "agent.model",
    "isolation": "agent.isolation",
    "parallel": "run.parallel",
    "budget": "run.budget_usd",
    "timeout": "run.timeout_s",
    "max_attempts": "run.max_attempts",
}
"""Option → setting that it overrides."""


@click.command()
@click.argument("ref")
@click.option("--agent", metavar="NAME", help="The agent that does the work.")
@click.option("--model", metavar="MODEL", help="Its model.")
@click.option(
    "--isolation",
    type=click.Choice(["open", "contained"]),
    help="Contained is what counts here, unless agent.isolation says otherwise: others wrote the issue.",
)
@click.option("--parallel", type=int, metavar="N", help="Agents at the same time, when the issue is done in parts.")
@click.option("--budget", type=float, metavar="USD", help="What the issue may cost; 0 is no limit.")
@click.option("--timeout", type=float, metavar="SECONDS", help="End the run after this time; 0 is never.")
@click.option("--max-attempts", type=int, metavar="N", help="Tries that one stage gets.")
@click.option("--draft/--ready", "draft", default=None, help="Open the pull request as a draft, or ready for review.")
@click.option("--watch", is_flag=True, help="Look after the pull request until it is merged or closed.")
@click.option("--headless", is_flag=True, help="JSON lines instead of the live screen.")
@click.option("--json", "as_json", is_flag=True, help="The same as --headless.")
def forge(ref: str, **flags: Unpack[Flags]) -> int:
    """Work on the issue REF, and open a pull request with what came of it; a person merges.

    REF is owner/repo#12, an issue's URL, or a key like ABC-12. The same issue again goes on where it was left: what CI
    and reviewers have found wrong about the pull request meanwhile is mended, and they are answered.
    """
    given = {setting: flags[option] for option, setting in _KEYS.items()}  # type: ignore[literal-required]  # keys of the table
    given |= {"run.headless": True} if flags["headless"] or flags["as_json"] else {}
    if flags["draft"] is not None:
        given["pull_request.draft"] = "always" if flags["draft"] else "never"
    with obey_interrupts():
        return _forge(_open(given), ref, is_watching=flags["watch"])


def _open(given: dict[str, object]) -> Project:
    """The repository's Whilly, with agents contained unless somebody has decided otherwise."""
    from whilly.config.layers import DEFAULT  # noqa: PLC0415  (settings cost time that `--help` need not take)

    project = open_project(current_directory(), given, find_checkpoint())
    if project.loaded.origin("agent.isolation") == DEFAULT:
        project = open_project(current_directory(), {**given, "agent.isolation": "contained"}, find_checkpoint())
    for warning in project.loaded.warnings:
        click.echo(printable(f"whilly: warning: {warning}"), err=True)
    return project


def _forge(project: Project, text: str, *, is_watching: bool) -> ExitCode:
    from whilly.application.forging.make_plan import make_plan  # noqa: PLC0415  (asyncio costs time)
    from whilly.cli.forge.case import conclude, find_parts, open_case, prepare_branches, revive  # noqa: PLC0415  (as above)
    from whilly.cli.run_lock import hold_lock  # noqa: PLC0415  (as above)
    from whilly.cli.work.allowance import Allowance  # noqa: PLC0415  (as above)
    from whilly.cli.work.leftovers import clear_scratch  # noqa: PLC0415  (as above)
    from whilly.cli.work.loop import Way, work_on  # noqa: PLC0415  (as above)
    from whilly.cli.work.preflight import require_agents, require_repository, require_tier  # noqa: PLC0415  (as above)

    has_events = project.settings.run.headless or not sys.stdout.isatty()
    project.places.listen(emit_wait if has_events else tell_wait)
    base = asyncio.run(require_repository(project))
    case = open_case(project, text, base, is_watching=is_watching)
    plan = make_plan(case.issue)
    asyncio.run(require_tier(project, [plan]))
    asyncio.run(require_agents(project, plan, FORGE))
    project.prepare_state()
    with hold_lock(project.state, (plan.name,), project.clock.now()):
        branches = prepare_branches(project, case)
        try:
            with catch_interrupts() as interrupts:
                plan = replace(plan, items=(*plan.items, *find_parts(project, plan.id, branches.target)))
                revive(project, plan)
                allowance = Allowance.of(project.settings.run, project.clock, interrupts)
                way = Way(FORGE, case.actions(), lambda progress, code: conclude(project, progress, code))
                return work_on(project, plan, branches, allowance, way)
        finally:
            # Once more, where something has cut the work short.
            deque(clear_scratch(project), maxlen=0)
