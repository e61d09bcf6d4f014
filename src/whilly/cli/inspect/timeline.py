"""`whilly timeline TASK`: everything that has happened to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from whilly.application.telling.milestones import describe_event
from whilly.cli.inspect.printing import print_lines
from whilly.cli.subject import json_option, open_ledger, plan_option, print_json, require_task

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whilly.application.telling.rows import EventRow
    from whilly.domain.ids import ItemId

_SHOWN_APART = frozenset(
    {"event", "ts", "plan", "task_id", "run", "milestone", "stage", "attempt", "outcome", "reason"}
)


@click.command()
@click.argument("task")
@plan_option
@json_option
def timeline(task: str, wanted: str | None, *, as_json: bool) -> None:
    """Show all that has happened to TASK and to its parts: attempts, outcomes, costs, evidence, what people said."""
    project = open_ledger()
    plan, row = require_task(project, wanted, task)
    item, rows = row.item, project.reading.items(plan.id)
    parts = {each.item.id for each in rows if each.item.parent == item.id}
    events = project.reading.events(plan.id, None if parts else item.id)
    events = [event for event in events if event.item in {item.id, *parts}]
    told = [describe_event(event, plan.id) for event in events]
    if as_json:
        print_json({"id": item.id, "title": item.title, "plan": plan.id, "events": told})
        return
    print_lines(lambda _: _render(item.id, events, told))


def _render(item: ItemId, events: Sequence[EventRow], told: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    from whilly.tui.neutral import one_line  # noqa: PLC0415  (`--json` needs none of it)
    from whilly.tui.words import duration  # noqa: PLC0415  (as above)

    if not events:
        yield "nothing has happened to it yet"
    for event, details in zip(events, told, strict=True):
        since = duration(event.at - events[0].at)
        what = str(details.get("milestone") or event.type).replace("_", " ")
        when = event.at.astimezone().strftime("%Y-%m-%d %H:%M:%S")
        whose = f"{event.item}: " if event.item != item else ""
        yield f"{when}  {since:>8}  {one_line(whose + _tell(what, details), 400)}"
        for name, value in details.items():
            if name not in _SHOWN_APART:
                yield f"{'':>31}{name.replace('_', ' ')}: {one_line(_plain(value), 400)}"


def _tell(what: str, details: Mapping[str, Any]) -> str:
    number = f" #{details['attempt']}" if "attempt" in details else ""
    outcome = f": {details['outcome']}" if "outcome" in details else ""
    reason = f" — {details['reason']}" if details.get("reason") else ""
    return f"{what}{number}{outcome}{reason}"


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
