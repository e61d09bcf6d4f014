"""What a plan has come to: every task with its outcome, attempts, time and money, and the sums."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from whilly.application.telling.rows import AttemptRow, ItemRow, PlanRow
from whilly.domain.attempt import Usage, add_usage
from whilly.domain.ids import CommitId

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from whilly.domain.work_item import ItemStatus

_NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Expense:
    """Money, tokens and time.

    Attributes:
        reported: USD that agents said they cost.
        assumed: USD that count because nobody knows better: reservations of attempts that ended without a word.
        open: USD reserved by attempts under way.
        worked: the time that attempts took, added up.
    """

    attempts: int = 0
    reported: Decimal = _NOTHING
    assumed: Decimal = _NOTHING
    open: Decimal = _NOTHING
    usage: Usage = field(default_factory=Usage)
    worked: timedelta = timedelta(0)

    @property
    def cost(self) -> Decimal:
        """USD that count as spent."""
        return self.reported + self.assumed


@dataclass(frozen=True, slots=True)
class TaskLine:
    """One task of the report.

    Attributes:
        outside: what it changed outside its `key_files`.
        took: from its first start to its end, waiting included; None while it is open or was never started.
    """

    row: ItemRow
    attempts: tuple[AttemptRow, ...]
    expense: Expense
    commit: CommitId | None
    outside: tuple[str, ...]
    took: timedelta | None


@dataclass(frozen=True, slots=True)
class Report:
    """A plan and what it has come to, at one moment."""

    plan: PlanRow
    at: datetime
    tasks: tuple[TaskLine, ...]
    total: Expense

    def count(self, status: ItemStatus) -> int:
        """How many tasks have this status."""
        return sum(task.row.status is status for task in self.tasks)


def make_report(plan: PlanRow, rows: Sequence[ItemRow], attempts: Iterable[AttemptRow], at: datetime) -> Report:
    """The report of a plan.

    Args:
        plan: the plan.
        rows: its items, in its order.
        attempts: all attempts of all its runs, in order.
        at: the moment that it is made.
    """
    everything = tuple(attempts)
    by_item: defaultdict[str, list[AttemptRow]] = defaultdict(list)
    for attempt in everything:
        by_item[attempt.item].append(attempt)
    tasks = tuple(_make_line(row, tuple(by_item[row.item.id]), at) for row in rows)
    return Report(plan, at, tasks, add_up(everything, at))


def _make_line(row: ItemRow, attempts: tuple[AttemptRow, ...], at: datetime) -> TaskLine:
    ending = row.run.ending if row.run else None
    outside: dict[str, None] = {}
    for attempt in attempts:
        if row.run and attempt.run == row.run.id and attempt.result:
            outside |= dict.fromkeys(attempt.result.outside_claims)
    ends = [attempt.ended_at for attempt in attempts if attempt.ended_at]
    is_over = bool(attempts) and bool(ends) and (row.run is None or row.run.is_ended)
    took = max(ends) - attempts[0].started_at if is_over else None
    return TaskLine(row, attempts, add_up(attempts, at), ending.commit if ending else None, tuple(outside), took)


def add_up(attempts: Iterable[AttemptRow], at: datetime) -> Expense:
    """What attempts have taken together; one under way counts its time until `at`."""
    total = Expense()
    for attempt in attempts:
        is_open = attempt.cost is None
        cost = attempt.cost or _NOTHING
        is_reported = attempt.basis == "reported"
        total = Expense(
            attempts=total.attempts + 1,
            reported=total.reported + (cost if is_reported else _NOTHING),
            assumed=total.assumed + (_NOTHING if is_reported else cost),
            open=total.open + (attempt.reserved or _NOTHING if is_open else _NOTHING),
            usage=add_usage(total.usage, (attempt.result.usage if attempt.result else None) or Usage()),
            worked=total.worked + max((attempt.ended_at or at) - attempt.started_at, timedelta(0)),
        )
    return total
