"""A product description by an agent, as a plan of one item on the pipeline `prd`; and the plan file made of it."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from whilly.adapters.git.delivery.documents import GitDocuments, require_place
from whilly.adapters.planfile import parse
from whilly.application.choose_target import Branches
from whilly.application.prd.check_document import check_document, tell_fault
from whilly.application.prd.deliver_document import deliver_document
from whilly.application.prd.order import Order, make_plan
from whilly.cli.exit_codes import ExitCode
from whilly.cli.render_error import printable, render_error
from whilly.cli.run_lock import hold_lock
from whilly.cli.work.allowance import Allowance
from whilly.cli.work.interrupts import catch_interrupts
from whilly.cli.work.leftovers import clear_scratch
from whilly.cli.work.loop import Way, work_on
from whilly.cli.work.preflight import require_agents, require_repository, require_tier
from whilly.domain.errors import ConfigError, RuleViolation, WhillyError
from whilly.domain.prd.document import find_faults
from whilly.domain.prd.parse import parse_prd
from whilly.domain.prd.skeleton import make_plan as make_plan_of
from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    from whilly.application.attempt_context import AttemptContext
    from whilly.application.telling.progress import Progress
    from whilly.application.telling.rows import ItemRow
    from whilly.bootstrap import Project
    from whilly.domain.attempt import AttemptResult
    from whilly.domain.flow.brief import Brief
    from whilly.domain.plan import Plan
    from whilly.domain.prd.idea import Idea
    from whilly.engine.driving.driver import Handler

    Stage = Callable[[Brief, AttemptContext, Order], Awaitable[AttemptResult]]


PRD = "prd"
"""The pipeline of ideas."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to come of an idea.

    Attributes:
        with_plan: a plan file as well.
        replaces: files that are there already may be replaced.
    """

    with_plan: bool = False
    replaces: bool = False


def write_description(project: Project, idea: Idea, wanted: Wanted) -> ExitCode:
    """Let an agent describe the idea; its exit code is that of the run.

    Raises:
        WhillyError: it cannot begin.
    """
    plan = make_plan(idea)
    row = _find_row(project, plan)
    _require_free(project, idea, wanted, is_begun=row is not None and row.run is not None and not row.run.is_ended)
    _require_writer(project, plan)
    base = asyncio.run(_require_base(project, idea))
    asyncio.run(require_tier(project, [plan]))
    asyncio.run(require_agents(project, plan, PRD))
    project.prepare_state()
    with hold_lock(project.state, (plan.name,), project.clock.now()):
        try:
            with catch_interrupts() as interrupts:
                _revive(project, plan, row)
                allowance = Allowance.of(project.settings.run, project.clock, interrupts)
                order = Order(idea, GitDocuments(project.git, project.root), wanted.replaces)
                way = Way(PRD, _actions(order), lambda told, code: _conclude(project, idea, wanted, told, code))
                return work_on(project, plan, Branches(base, base, is_aside=False), allowance, way)
        finally:
            # Once more, where something has cut the work short.
            deque(clear_scratch(project), maxlen=0)


def _actions(order: Order) -> Mapping[str, Handler]:
    def at(stage: Stage) -> Handler:
        async def work(brief: Brief, context: AttemptContext) -> AttemptResult:
            return await stage(brief, context, order)

        return work

    return {"check_prd": at(check_document), "deliver": at(deliver_document)}


def _find_row(project: Project, plan: Plan) -> ItemRow | None:
    """Where an earlier run for the same words stands."""
    if not project.has_ledger or all(row.id != plan.id for row in project.reading.plans()):
        return None
    (row,) = project.reading.items(plan.id)
    return row


def _revive(project: Project, plan: Plan, row: ItemRow | None) -> None:
    """Who waits or has failed goes on; what was done is done anew: that is what the command was given for."""
    if row is not None and row.status is ItemStatus.DONE:
        project.planning().reset(plan.id)
    elif row is not None and row.status not in {ItemStatus.PENDING, ItemStatus.IN_PROGRESS}:
        project.planning().retry(plan.id, row.item.id, "whilly prd")


def _require_free(project: Project, idea: Idea, wanted: Wanted, *, is_begun: bool) -> None:
    """See that no file is in the way, before anything costs money.

    Raises:
        RuleViolation: one is, or a folder leads out of the repository.
    """
    for name in (idea.document, idea.plan):
        require_place(project.root, name)
    # What a run that was cut short has written itself is found by that run.
    names = ([] if is_begun else [idea.document]) + ([idea.plan] if wanted.with_plan else [])
    there = [name for name in names if (project.root / name).exists() or (project.root / name).is_symlink()]
    if there and not wanted.replaces:
        message = f"{' and '.join(there)} {'are' if len(there) > 1 else 'is'} there already; nothing was started"
        how = f"; or make only the plan of it: whilly prd --from {idea.document}" if there == [idea.document] else ""
        raise RuleViolation(message, remedy=f"--force replaces it, another first line gives it another name{how}")


def _require_writer(project: Project, plan: Plan) -> None:
    """See that somebody who may write has a model: the demo agent has none.

    Raises:
        ConfigError: nobody has.
    """
    names = project.agents_for(plan.items[0], PRD)
    if all(name in project.agent_names and project.make_agent(name).facts().name == "demo" for name in names):
        message = f"agent {', '.join(sorted(names))} has no model, so it cannot write a product description"
        raise ConfigError(message, remedy="name another one, --agent claude for example; `whilly agents` lists them")


async def _require_base(project: Project, idea: Idea) -> str:
    """The branch to begin at.

    Raises:
        ConfigError: the repository has none, or would not keep what is written.
    """
    base = await require_repository(project)
    if await project.repository.find_commit(f"refs/heads/{base}") is None:
        message = f"there is no branch {base} with a commit to begin at"
        raise ConfigError(message, remedy="make a first commit, or set repository.base_branch to a local branch")
    ignored = await project.git.run(project.root, "check-ignore", "--quiet", "--", idea.document, accept=(0, 1))
    if ignored.code == 0:
        message = f"git ignores {idea.document}, so that no commit would hold what an agent writes there"
        raise ConfigError(message, remedy=f"let .gitignore say !{idea.document}, and commit that")
    return base


def _conclude(
    project: Project, idea: Idea, wanted: Wanted, progress: Progress, code: ExitCode
) -> tuple[Progress, ExitCode]:
    """The files that came of it."""
    # The branch holds nothing of it, so nobody needs to look there.
    progress = replace(progress, target="")
    if code is not ExitCode.DONE:
        return progress, code
    written = replace(progress, written=(idea.document,))
    if not wanted.with_plan:
        return written, code
    try:
        write_plan(project, project.root / idea.document, idea.document, idea.plan, replaces=wanted.replaces)
    except WhillyError as error:
        click.echo(render_error(error), err=True)
        return written, ExitCode.INVALID
    return replace(written, written=(idea.document, idea.plan)), code


def write_plan(project: Project, document: Path, name: str, plan: str, *, replaces: bool) -> None:
    """Make the plan file of a product description.

    Args:
        project: whose repository it is put into.
        document: the file to read.
        name: what the plan calls it.
        plan: the plan file, relative to the repository.
        replaces: it may take the place of another one.

    Raises:
        WhillyError: the description has faults, or the plan cannot be put in place; all faults were printed.
    """
    try:
        prd = parse_prd(document.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        message = f"{name} cannot be read: {error.strerror}"
        raise ConfigError(message, remedy="name a product description: whilly prd --from docs/PRD-….md") from error
    if faults := find_faults(prd):
        for each in faults:
            click.echo(printable(f"{name}: {tell_fault(each)} → {each.remedy}"), err=True)
        message = (
            f"{len(faults)} {'thing is' if len(faults) == 1 else 'things are'} wrong with {name}; no plan was made"
        )
        raise RuleViolation(message, remedy="mend the document, then give the same command again")
    made = make_plan_of(prd, project.clock.now().isoformat(timespec="seconds"), name)
    text = json.dumps(made, ensure_ascii=False, indent=2) + "\n"
    parsed = parse(text.encode("utf-8", "replace"), project.root / plan, project.root)
    for problem in parsed.problems:
        click.echo(printable(str(problem)), err=True)
    if parsed.plan is None:
        message = f"what {name} says makes no valid plan; no plan was made"
        raise RuleViolation(message, remedy="mend the document, then: whilly prd --from " + name)
    asyncio.run(GitDocuments(project.git, project.root).put(plan, text, replaces=replaces))
