"""Tasks that are done and whose commits are on no branch any more."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whilly.domain.errors import PortError
from whilly.domain.flow.plan_run import FORGE
from whilly.domain.ids import ItemId
from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from whilly.application.telling.rows import PlanRow
    from whilly.bootstrap import Project


@dataclass(frozen=True, slots=True)
class LostWork:
    """What is done and not there.

    Attributes:
        items: in the order in which they were done.
        what: the same in words.
        remedy: the commands that help.
    """

    items: tuple[ItemId, ...]
    what: str
    remedy: str


async def find_lost_work(project: Project, plan: PlanRow) -> LostWork | None:
    """What of a plan's finished work neither its target nor its base holds; None when all of it is there.

    It may be so on purpose, so this is for a warning. Work that was merged by squashing is there.
    """
    from whilly.adapters.git.reachability import find_lost  # noqa: PLC0415  (asyncio costs time)

    rows = project.reading.items(plan.id)
    if plan.state.pipeline == FORGE and any(row.status is ItemStatus.DONE and not row.item.parent for row in rows):
        # An issue is done when its pull request is merged: all of it is where that went to.
        return None
    done = {
        row.run.ending.commit: row.item.id
        for row in rows
        if row.status is ItemStatus.DONE and row.run and row.run.ending and row.run.ending.commit
    }
    target, base = plan.state.target, plan.state.base
    if not done or not target:
        return None
    refs = [f"refs/heads/{name}" for name in (target, base) if name]
    try:
        lost = await find_lost(project.git, project.root, list(done), refs)
    except PortError:
        # Git does not work here at all, which whoever asks will hear soon enough.
        return None
    if not lost:
        return None
    items = tuple(item for commit in lost for known, item in done.items() if known == commit)
    count = "a task is" if len(items) == 1 else f"{len(items)} tasks are"
    what = f"{count} done, but neither {target} nor {base} has the work any more: {', '.join(items[:10])}"
    if len(lost) == len(done):
        back = f"git branch -f {shlex.quote(target)} {lost[-1]}"
    else:
        # The target has other work by now, which must not go away for this.
        back = f"git branch {shlex.quote(f'{target}-lost')} {lost[-1]}, and merge that branch"
    remedy = f"if that is no intention: {back}; or do all of it again: whilly reset {shlex.quote(plan.source)}"
    return LostWork(items, what, remedy)
