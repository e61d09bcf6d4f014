"""The loop around a running engine: signals in, views out, until the plan is at rest."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import click

from whilly.application.explain_take_over import explain_take_over
from whilly.application.telling.progress import Progress
from whilly.bootstrap.rules import require_prompts
from whilly.cli.exit_codes import ExitCode, run_exit_code
from whilly.cli.inspect.report import save_report
from whilly.cli.lost_work import find_lost_work
from whilly.cli.render_error import printable
from whilly.cli.work.leftovers import remove_leftovers
from whilly.domain.flow.plan_run import SOLO, Limits, StopReason
from whilly.domain.ids import attempt_id
from whilly.engine.driving.driver import Handler
from whilly.tui.choose import choose_view, fitting_style

if TYPE_CHECKING:
    from whilly.application.choose_target import Branches
    from whilly.bootstrap import Project
    from whilly.cli.work.allowance import Allowance
    from whilly.cli.work.interrupts import Interrupts
    from whilly.domain.ids import AttemptId
    from whilly.domain.plan import Plan
    from whilly.engine.engine import Engine
    from whilly.tui.view import View

TICK_SECONDS = 0.05
"""How often the engine is asked whether it has come to rest."""


SHOW_SECONDS = 0.25
"""How often the view is given something new to show."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a plan is worked on.

    Attributes:
        pipeline: the one that its items go through.
        actions: who carries out the actions that only this pipeline has.
        conclude: what has come of it, in place of a branch that can be taken over.
    """

    pipeline: str = SOLO
    actions: Mapping[str, Handler] = field(default_factory=dict)
    conclude: Callable[[Progress, ExitCode], tuple[Progress, ExitCode]] | None = None


def work_on(project: Project, plan: Plan, branches: Branches, allowance: Allowance, way: Way = Way()) -> ExitCode:
    """Work on a plan until it is at rest, and show how it goes; its exit code."""
    require_prompts(project.state / "prompts", project.pipelines.values())
    engine, ledger = project.engine(way.actions)
    project.planning(ledger).import_plan(plan)
    asyncio.run(project.ports().sessions.sweep(_live_attempts(project)))
    observer = project.observer(plan.id, engine.live)
    with make_view(project) as view:
        refused = allowance.verdict
        try:
            if refused is ExitCode.DONE:
                _begin(engine, project, plan, branches, allowance, way)
                _follow(engine, allowance, lambda: view.show(observer.look()))
        finally:
            engine.close()
        row = project.reading.plan(plan.id)
        allowance.use(row.state.iterations)
        progress = observer.look(at_once=True)
        code = run_exit_code(progress.counts, progress.stop)
        code = max(code, refused) if code is not ExitCode.DONE else code
        if way.conclude is not None:
            progress, code = way.conclude(progress, code)
        else:
            take_over = asyncio.run(explain_take_over(project.repository, branches, project.root))
            progress = replace(progress, take_over=take_over)
        lost = asyncio.run(find_lost_work(project, row))
        warnings = remove_leftovers(project, plan.id, engine.left)
        warnings = (*warnings, f"{lost.what} → {lost.remedy}") if lost else warnings
        view.finish(replace(progress, warnings=warnings), code, save_report(project, row))
    for warning in warnings:
        click.echo(printable(f"whilly: warning: {warning}"), err=True)
    return code


def make_view(project: Project) -> View:
    """The way of showing that fits the terminal and the settings."""
    terminal = project.loaded.environment.get("TERM", "")
    style = fitting_style(sys.stdout, is_headless=project.settings.run.headless, terminal=terminal)
    return choose_view(sys.stdout, project.clock, style)


def _begin(engine: Engine, project: Project, plan: Plan, branches: Branches, allowance: Allowance, way: Way) -> None:
    limits, timeout = _limits(project, allowance), allowance.begin()
    engine.begin(plan.id, limits, base=branches.base, target=branches.target, timeout=timeout, pipeline=way.pipeline)


def _follow(engine: Engine, allowance: Allowance, show: Callable[[], None]) -> None:
    clock, shown_at = allowance.clock, -SHOW_SECONDS
    while engine.tick():
        _obey(engine, allowance.interrupts)
        if clock.monotonic() - shown_at >= SHOW_SECONDS:
            shown_at = clock.monotonic()
            show()
        time.sleep(TICK_SECONDS)


def _obey(engine: Engine, interrupts: Interrupts) -> None:
    while interrupts.obeyed < interrupts.count:
        interrupts.obeyed += 1
        if interrupts.obeyed == 1:
            engine.stop(StopReason.INTERRUPTED)
        else:
            engine.hurry()


def _limits(project: Project, allowance: Allowance) -> Limits:
    run = project.settings.run
    return Limits(
        parallel=run.parallel,
        budget=run.budget_usd or None,
        task=run.task_budget_usd or None,
        day=run.day_budget_usd or None,
        project=run.project_budget_usd or None,
        reservation=project.settings.agent.reservation_usd,
        max_iterations=allowance.iterations or 0,
    )


def _live_attempts(project: Project) -> list[AttemptId]:
    """Attempts that an earlier process may have left running; to be adopted, now or when their plan is worked on."""
    rows = [row for plan in project.reading.plans() for row in project.reading.items(plan.id)]
    return [attempt_id(row.run.id, row.run.attempt) for row in rows if row.run is not None and not row.run.is_ended]
