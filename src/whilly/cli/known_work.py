"""Tasks of the ledger, found by what people write for `whilly forge`: an address, a key, a task of a plan file."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from whilly.adapters.planfile.parse import load
from whilly.domain.errors import ConfigError, RuleViolation
from whilly.domain.forge.reference import TASKS, IssueRef, TaskRef, parse_reference, shorten
from whilly.domain.intake.task_name import find_issue, key_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whilly.application.telling.rows import ItemRow, PlanRow
    from whilly.bootstrap import Project
    from whilly.domain.forge.reference import ItemRef

_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
MOST_KNOWN = 10
"""How many known tasks an error lists."""


def find_work(project: Project, text: str) -> list[tuple[PlanRow, ItemRow]]:
    """The tasks that a text means, those that were worked on last first; none when it means none of the ledger's.

    Raises:
        PortError: only its tracker can say what is meant, and it cannot be asked.
    """
    known = list(_known(project))
    if found := [(plan, row) for plan, row in known if plan.source == text.strip()]:
        return found
    for ref in _read(project, text.strip()):
        if isinstance(ref, TaskRef):
            found = _find_task(project, known, ref)
        elif isinstance(ref, IssueRef):
            found = _find_issue(project, known, ref)
        if found:
            return found
    return []


def refuse_unknown(project: Project, text: str) -> ConfigError:
    """Says that nothing is known of what a text names, and what is."""
    names = list(dict.fromkeys(row.item.id for _, row in _known(project)))
    more = f" and {len(names) - MOST_KNOWN} more" if len(names) > MOST_KNOWN else ""
    message = f"nothing was ever done here for {shorten(text)}"
    return ConfigError(message, remedy=f"known are: {', '.join(names[:MOST_KNOWN])}{more}")


def _known(project: Project) -> Iterator[tuple[PlanRow, ItemRow]]:
    for plan in project.reading.plans():
        for row in project.reading.items(plan.id):
            yield plan, row


def _read(project: Project, text: str) -> Iterator[ItemRef]:
    """What it may mean: as `whilly forge` reads it, and then at every other place."""
    home = asyncio.run(project.find_home())
    places = project.places.known()
    for written in (text, *(f"{name}:{text}" for name in project.places.by_name)):
        try:
            yield parse_reference(written, places, home.place if home else "")
        except (RuleViolation, ConfigError):
            continue


def _find_task(project: Project, known: list[tuple[PlanRow, ItemRow]], ref: TaskRef) -> list[tuple[PlanRow, ItemRow]]:
    """The task as the plan's own, or as one that `whilly forge` was given."""
    path = Path(ref.plan).absolute()
    plan = load(path, project.root).plan if path.is_file() else None
    forged = IssueRef(TASKS, plan.id if plan else "", ref.task)
    own = [(row, at) for row, at in known if row.source == str(path) and _is_called(at, ref.task)]
    key = forged.key.casefold()
    return own + [(row, at) for row, at in known if row.source.casefold() == key]


def _is_called(row: ItemRow, name: str) -> bool:
    return row.item.id.casefold() == name.casefold()


def _find_issue(project: Project, known: list[tuple[PlanRow, ItemRow]], ref: IssueRef) -> list[tuple[PlanRow, ItemRow]]:
    """The issue's own plan, or the task of a plan file that it was imported as."""
    wanted = key_of(_ask(project, ref) if _UUID.fullmatch(ref.number) else ref)
    places = project.places.known()
    by_address = {
        text: found
        for plan, row in known
        for text in (plan.source, row.item.prd_requirement)
        if (found := find_issue(text, places))
    }
    keys = {text: key_of(found) for text, found in by_address.items()}
    return [(plan, row) for plan, row in known if wanted in {keys.get(plan.source), keys.get(row.item.prd_requirement)}]


def _ask(project: Project, ref: IssueRef) -> IssueRef:
    """The key of what Plane's addresses name by a UUID."""

    async def fetch() -> IssueRef:
        async with project.connect(ref.place) as line:
            return (await line.tracker.fetch_issue(ref)).ref

    return asyncio.run(fetch())
