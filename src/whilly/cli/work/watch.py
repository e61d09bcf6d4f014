"""`whilly run --watch`: look on while another `whilly run` works."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from whilly.cli.inspect.peek import peek
from whilly.cli.run_lock import find_owner
from whilly.cli.work.loop import make_view

if TYPE_CHECKING:
    from whilly.bootstrap import Project

LOOK_SECONDS = 0.5


def look_on(project: Project) -> bool:
    """Show the work of the `whilly run` that is alive here until it ends; False when there is none."""
    if not project.has_ledger or find_owner(project.state) is None:
        return False
    plan = project.reading.plans()[0].id
    observer = project.observer(plan)
    with make_view(project) as view:
        while find_owner(project.state) is not None:
            view.show(peek(project, observer.look()))
            time.sleep(LOOK_SECONDS)
        view.finish(observer.look(at_once=True), 0, "")
    return True
