"""An import from what is asked for to the file that is written."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.adapters.planfile.identity import plan_id
from whilly.adapters.planfile.revise import compose, revise
from whilly.adapters.planfile.write import write_atomically
from whilly.application.gather_issues import Gathered, gather_issues
from whilly.cli.intake.plan_file import PlanFile, require_same, require_valid
from whilly.cli.steer.person import name_person
from whilly.domain.confinement import Tier
from whilly.domain.intake.plan_merge import REFRESHED, Merge, merge_issues
from whilly.domain.intake.task_name import find_issue
from whilly.domain.text.names import slugify
from whilly.domain.work_item import ItemStatus, WorkItem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from whilly.bootstrap import Project
    from whilly.cli.intake.wanted import Wanted
    from whilly.domain.forge.reference import IssueRef
    from whilly.domain.ids import ItemId


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an import did.

    Attributes:
        is_written: whether the file is another one now.
        is_dry: whether nothing was to be written.
        is_complete: whether all issues that fit were read.
        notes: what people should know beside the tasks.
    """

    path: Path
    merge: Merge
    is_written: bool
    is_dry: bool
    is_complete: bool
    notes: tuple[str, ...]


def carry_out(project: Project, wanted: Wanted, file: PlanFile, *, is_dry: bool) -> Outcome:
    """Read the issues and bring the plan file up to date.

    Raises:
        ConfigError: there is no token for the place.
        PortError: the issues cannot be read, or the file cannot be written.
        RuleViolation: it would be no valid plan.
    """
    ledger = _read_ledger(project, file)
    tasks = file.tasks(ledger)
    about = [find_issue(task.url, wanted.places) for task in tasks if task.status is ItemStatus.PENDING]
    pending = [ref for ref in about if ref is not None]
    found, warnings = asyncio.run(_gather(project, wanted, pending))
    merge = merge_issues(tasks, found.issues, wanted.place.provider, wanted.places)
    data = _apply(project, wanted, file, merge)
    if data is not None:
        require_valid(project, file.path, data)
    told: tuple[str, ...] = ()
    if not is_dry:
        if data is not None:
            require_same(file)
            write_atomically(file.path, data)
        told = tuple(_cancel(project, file, merge, ledger))
    is_written = data is not None and not is_dry
    return Outcome(
        file.path, merge, is_written, is_dry, found.is_complete, (*warnings, *found.notes, *merge.notes, *told)
    )


async def _gather(project: Project, wanted: Wanted, pending: list[IssueRef]) -> tuple[Gathered, tuple[str, ...]]:
    line = project.connect(wanted.place.name)
    async with line:
        own = [ref for ref in pending if ref.place == wanted.place.name]
        return await gather_issues(line.tracker, wanted.queries, wanted.named, own), line.warnings


def _read_ledger(project: Project, file: PlanFile) -> Mapping[ItemId, ItemStatus]:
    """Where the tasks of the plan stand, if it was ever begun."""
    plan = plan_id(file.path, project.root)
    if not project.has_ledger or all(row.id != plan for row in project.reading.plans()):
        return {}
    return {row.item.id: row.status for row in project.reading.items(plan)}


def _apply(project: Project, wanted: Wanted, file: PlanFile, merge: Merge) -> bytes | None:
    """The new content of the file; None when it stays as it is."""
    added = [_describe(item) for item in merge.added]
    if file.data is None:
        return compose(_head(project, wanted), added) if added else None
    statuses = file.plan.statuses if file.plan else {}
    skipped = {each: {"status": "skipped"} for each in merge.skipped if statuses[each] is ItemStatus.PENDING}
    data = revise(file.data, {**merge.changed, **skipped}, added)
    return None if data == file.data else data


def _head(project: Project, wanted: Wanted) -> dict[str, object]:
    """What stands before the tasks of a plan that an import began."""
    scopes = [query.scope for query in wanted.queries if query.scope] + [ref.short for ref in wanted.named]
    name = slugify(" ".join([wanted.place.name, *scopes[:1]]), 48)
    return {
        "project": name,
        "created_at": project.clock.now().isoformat(timespec="seconds"),
        "source": {"type": str(wanted.place.provider), "place": wanted.place.name, "scopes": scopes},
    }


def _describe(item: WorkItem) -> dict[str, object]:
    """A new task, as the file has it."""
    described: dict[str, object] = {"id": item.id, "phase": item.phase, "category": item.category}
    described |= {"status": ItemStatus.PENDING, **{name: getattr(item, name) for name in REFRESHED}}
    return described if item.isolation is Tier.OPEN else {**described, "isolation": item.isolation}


def _cancel(project: Project, file: PlanFile, merge: Merge, ledger: Mapping[ItemId, ItemStatus]) -> Iterator[str]:
    """Skip the same tasks in the ledger, which has the last word; say what could not be."""
    plan = plan_id(file.path, project.root)
    for item, why in merge.skipped.items():
        if item in ledger and (refusal := project.recorder.cancel(plan, item, name_person(project), why)):
            yield f"{item} could not be skipped: {refusal}"
