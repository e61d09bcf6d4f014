"""`whilly run --watch`: look on while another `whilly run` works."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from whilly.cli.exit_codes import ExitCode, run_exit_code
from whilly.cli.inspect.peek import peek
from whilly.cli.run_lock import find_owner
from whilly.cli.work.loop import make_view
from whilly.domain.flow.plan_run import PlanPhase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.application.telling.rows import PlanRow
    from whilly.bootstrap import Project
    from whilly.domain.ids import PlanId

LOOK_SECONDS = 0.5


def look_on(project: Project) -> ExitCode | None:
    """Show the work of the `whilly run` that is alive here until it ends; None when there is none.

    Returns:
        What it came to, as far as one can see from outside; the worst of its plans.
    """
    if find_owner(project.state) is None:
        return None
    codes: list[ExitCode] = []
    told = _find_told(project)
    while True:
        # Asked before the ledger is: a plan that was begun and ended between two looks is told of all the same.
        is_alive = find_owner(project.state) is not None
        plan = _find_plan(project, told)
        if plan is not None:
            told[plan.id] = plan.state.number
            codes.append(_follow(project, plan))
        elif is_alive:
            # It is just beginning, or just ending.
            time.sleep(LOOK_SECONDS)
        else:
            return max(codes) if codes else None


def _plans(project: Project) -> list[PlanRow]:
    return project.reading.plans() if project.has_ledger else []


def _find_told(project: Project) -> dict[PlanId, int]:
    """How often work on each plan had come to its end before anybody looked."""
    return {plan.id: plan.state.number - (plan.state.phase is not PlanPhase.IDLE) for plan in _plans(project)}


def _find_plan(project: Project, told: Mapping[PlanId, int]) -> PlanRow | None:
    """The plan that was begun first of those whose latest work is not told yet."""
    untold = (plan for plan in reversed(_plans(project)) if plan.state.number > told.get(plan.id, 0))
    return next(untold, None)


def _follow(project: Project, plan: PlanRow) -> ExitCode:
    observer = project.observer(plan.id)
    with make_view(project) as view:
        while find_owner(project.state) is not None and _is_under_way(project, plan):
            view.show(peek(project, observer.look()))
            time.sleep(LOOK_SECONDS)
        progress = observer.look(at_once=True)
        code = run_exit_code(progress.counts, progress.stop)
        view.finish(progress, code, "")
    return code


def _is_under_way(project: Project, plan: PlanRow) -> bool:
    now = project.reading.plan(plan.id).state
    return now.phase is not PlanPhase.IDLE and now.number == plan.state.number
