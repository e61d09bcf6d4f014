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
    from whilly.bootstrap import Project
    from whilly.domain.ids import PlanId

LOOK_SECONDS = 0.5


def look_on(project: Project) -> ExitCode | None:
    """Show the work of the `whilly run` that is alive here until it ends; None when there is none.

    Returns:
        What it came to, as far as one can see from outside; the worst of its plans.
    """
    codes = []
    while find_owner(project.state) is not None:
        plan = _find_plan(project)
        if plan is not None:
            codes.append(_follow(project, plan))
        else:
            # It is just beginning, or just ending.
            time.sleep(LOOK_SECONDS)
    return max(codes) if codes else None


def _find_plan(project: Project) -> PlanId | None:
    """The plan that is worked on."""
    plans = project.reading.plans() if project.has_ledger else []
    return next((plan.id for plan in plans if plan.state.phase is not PlanPhase.IDLE), None)


def _follow(project: Project, plan: PlanId) -> ExitCode:
    observer = project.observer(plan)
    with make_view(project) as view:
        while find_owner(project.state) is not None and _find_plan(project) == plan:
            view.show(peek(project, observer.look()))
            time.sleep(LOOK_SECONDS)
        progress = observer.look(at_once=True)
        code = run_exit_code(progress.counts, progress.stop)
        view.finish(progress, code, "")
    return code
