"""Hand-offs as people see them: what lies in the folder, beside what the ledger says of its attempt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from whilly.application.telling.going_on import name_command
from whilly.domain.errors import ConfigError
from whilly.domain.handoff import HandoffState, Standing, name_handoff
from whilly.domain.ids import AttemptId, ItemId

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whilly.application.telling.rows import PlanRow
    from whilly.bootstrap import Project


@dataclass(frozen=True, slots=True)
class Entry:
    """One hand-off.

    Attributes:
        plan: its plan's name; empty when the ledger does not know its attempt.
        is_current: its attempt is under way: an answer counts.
        outcome: what its attempt came to.
        notes: what people have said to whoever works on it.
        again: the command that goes on with its plan.
    """

    attempt: AttemptId
    standing: Standing
    item: str
    title: str = ""
    plan: str = ""
    is_current: bool = False
    outcome: str = ""
    notes: tuple[str, ...] = ()
    again: str = ""

    @property
    def name(self) -> str:
        """By which people call it."""
        return name_handoff(self.attempt)

    @property
    def state(self) -> str:
        """In a word."""
        if self.is_current or not self.plan:
            return str(self.standing.state)
        if self.standing.state in {HandoffState.OPEN, HandoffState.SPOILED}:
            return "over"
        return "taken" if self.standing.state is HandoffState.ANSWERED and not self.is_ignored else "withdrawn"

    @property
    def is_ignored(self) -> bool:
        """Whether it has an answer that nobody took: its attempt had come to another end."""
        answer = self.standing.answer
        return not self.is_current and answer is not None and self.outcome in _ENDS_WITHOUT_ANSWER

    @property
    def is_waiting(self) -> bool:
        """Whether somebody is to do something about it."""
        return self.is_current and self.standing.state in {HandoffState.OPEN, HandoffState.SPOILED}


_ENDS_WITHOUT_ANSWER = {"interrupted", "cancelled", "timed_out", "unavailable", "crashed"}


async def find_entries(project: Project, plans: Sequence[PlanRow]) -> list[Entry]:
    """All hand-offs of these plans, and those that no plan knows; the oldest first."""
    known = {}
    for plan in plans:
        items = {row.item.id: row for row in project.reading.items(plan.id)}
        for row in project.reading.attempts(plan.id):
            known[AttemptId(f"{row.run}/{row.number}")] = (plan, row, items.get(ItemId(row.item)))
    entries = []
    for attempt in await project.handoffs.list_all():
        standing = await project.handoffs.look(attempt)
        item, title = (standing.handoff.item, standing.handoff.title) if standing.handoff else ("", "")
        if attempt not in known:
            entries.append(Entry(attempt, standing, item, title))
            continue
        plan, row, of = known[attempt]
        run = of.run if of else None
        is_current = row.result is None and run is not None and run.id == row.run and not run.is_ended
        entries.append(
            Entry(
                attempt,
                standing,
                item,
                title,
                plan.name,
                is_current,
                row.result.outcome if row.result else "",
                run.notes if run else (),
                name_command(plan.source, plan.name),
            )
        )
    return entries


def require_entry(entries: Sequence[Entry], wanted: str) -> Entry:
    """The hand-off of this name, attempt or task; of a task, the one that counts.

    Raises:
        ConfigError: there is none, or there are several.
    """
    exact = [entry for entry in entries if wanted in {entry.name, entry.attempt}]
    of_task = [entry for entry in entries if entry.item.casefold() == wanted.casefold()]
    found = exact or [entry for entry in of_task if entry.is_current] or of_task[-1:]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(f"{entry.name} ({entry.plan})" for entry in found)
        message = f"{wanted} is handed over in several plans"
        raise ConfigError(message, remedy=f"name one: {names}")
    message = f"nothing was handed over as {wanted!r}"
    raise ConfigError(message, remedy="whilly handoff list --all")
