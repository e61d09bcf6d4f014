"""The loop around a running engine: signals in, views out, until the plan is at rest."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from whilly.cli.exit_codes import ExitCode, run_exit_code
from whilly.cli.inspect.report import save_report
from whilly.domain.flow.plan_run import Limits, StopReason
from whilly.domain.ids import attempt_id
from whilly.tui.choose import choose_view, fitting_style

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from whilly.application.choose_target import Branches
    from whilly.bootstrap import Project
    from whilly.domain.ids import AttemptId
    from whilly.domain.plan import Plan
    from whilly.engine.engine import Engine
    from whilly.ports.clock import Clock
    from whilly.tui.view import View

TICK_SECONDS = 0.05
"""How often the engine is asked whether it has come to rest."""


SHOW_SECONDS = 0.25
"""How often the view is given something new to show."""


class Interrupts:
    """Ctrl-C and SIGTERM, counted."""

    def __init__(self) -> None:
        self.count = 0
        self.obeyed = 0

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        """A signal has come."""
        self.count += 1


@contextmanager
def catch_interrupts() -> Iterator[Interrupts]:
    """Count signals instead of dying of them, until the block ends."""
    interrupts = Interrupts()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, interrupts) for number in numbers]
    try:
        yield interrupts
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def work_on(project: Project, plan: Plan, branches: Branches, interrupts: Interrupts) -> ExitCode:
    """Work on a plan until it is at rest, and show how it goes; its exit code."""
    engine, ledger = project.engine()
    project.planning(ledger).import_plan(plan)
    asyncio.run(project.ports().sessions.sweep(_live_attempts(project)))
    observer = project.observer(plan.id, engine.live)
    with make_view(project) as view:
        try:
            _begin(engine, project, plan, branches)
            _follow(engine, interrupts, lambda: view.show(observer.look()), project.clock)
        finally:
            engine.close()
        progress = observer.look(at_once=True)
        code = run_exit_code(progress.counts, progress.stop)
        view.finish(progress, code, save_report(project, project.reading.plan(plan.id)))
    return code


def make_view(project: Project) -> View:
    """The way of showing that fits the terminal and the settings."""
    terminal = project.loaded.environment.get("TERM", "")
    style = fitting_style(sys.stdout, is_headless=project.settings.run.headless, terminal=terminal)
    return choose_view(sys.stdout, project.clock, style)


def _begin(engine: Engine, project: Project, plan: Plan, branches: Branches) -> None:
    run = project.settings.run
    timeout = timedelta(seconds=run.timeout_s) if run.timeout_s else None
    engine.begin(plan.id, _limits(project), base=branches.base, target=branches.target, timeout=timeout)


def _follow(engine: Engine, interrupts: Interrupts, show: Callable[[], None], clock: Clock) -> None:
    shown_at = -SHOW_SECONDS
    while engine.tick():
        _obey(engine, interrupts)
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


def _limits(project: Project) -> Limits:
    run = project.settings.run
    return Limits(
        parallel=run.parallel,
        budget=run.budget_usd or None,
        reservation=project.settings.agent.reservation_usd,
        max_iterations=run.max_iterations,
    )


def _live_attempts(project: Project) -> list[AttemptId]:
    """Attempts that an earlier process may have left running; to be adopted, now or when their plan is worked on."""
    rows = [row for plan in project.reading.plans() for row in project.reading.items(plan.id)]
    return [attempt_id(row.run.id, row.run.attempt) for row in rows if row.run is not None and not row.run.is_ended]
