"""Where a plan stands at one moment, as a value that every view shows in its own way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from whilly.application.telling.going_on import name_command
from whilly.application.telling.rows import EventRow
from whilly.domain.flow.plan_run import PlanPhase, StopReason
from whilly.domain.flow.run import PARTS
from whilly.domain.ids import ItemId, PlanId
from whilly.domain.schedule import Wait
from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from whilly.application.live import Live, LiveAttempt


@dataclass(frozen=True, slots=True)
class Active:
    """An item that is being worked on.

    Attributes:
        number: of the attempt under way, or of the next one.
        since: when the attempt began; between two attempts, when the run did.
        is_under_way: False between two attempts.
        spent: USD, by the item's earlier attempts.
        reserved: USD, for the attempt under way.
        hold: why the next attempt may not start yet.
        last_action: what the agent did last, in one line.
        quiet: how long it has done nothing that people could see.
    """

    item: ItemId
    title: str
    stage: str
    number: int
    agent: str
    since: datetime
    is_under_way: bool
    run: str = ""
    spent: Decimal = Decimal(0)
    reserved: Decimal = Decimal(0)
    hold: str = ""
    last_action: str = ""
    tokens: int = 0
    elapsed: timedelta = timedelta(0)
    quiet: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class Waiting:
    """An item whose run waits for a moment, an account's limit or a person (`whom`); see `domain.flow.run.Wait`."""

    item: ItemId
    title: str
    reason: str
    since: datetime | None = None
    until: datetime | None = None
    whom: str = ""


@dataclass(frozen=True, slots=True)
class Queued:
    """An item that has not been started, and the first thing that it waits for.

    Attributes:
        reason: `wait` for people; also says so when nobody works on the plan.
    """

    item: ItemId
    title: str
    priority: str
    reason: str
    wait: Wait | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """An item that came to its end.

    Attributes:
        took: its newest run, waiting included; None when it was never started.
        spent: USD, by all its attempts.
    """

    item: ItemId
    title: str
    status: ItemStatus
    reason: str = ""
    took: timedelta | None = None
    spent: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Money:
    """What the plan has cost and may cost, in USD; no budget is no limit."""

    spent: Decimal = Decimal(0)
    reserved: Decimal = Decimal(0)
    budget: Decimal | None = None

    @property
    def share(self) -> float:
        """The part of the budget that is spent; 0 when there is none."""
        return float(self.spent / self.budget) if self.budget else 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a plan stands.

    Attributes:
        at: the moment that this shows.
        elapsed: since work on the plan was last begun; until it ended, when nobody works on it.
        counts: how many items have each status.
        queue: in the order of work.
        done: in the order of ending.
        undone: failed, skipped and blocked items, in this order; of each kind the latest first.
        news: the ledger's events since the last look.
        take_over: the command that brings finished work into the base branch; known at the end, if there is any.
        pull_request: where people see the pull request that came of it; known at the end, if there is one.
        written: files that were put into the work tree, which a product description and its plan are.
        warnings: what is not as it should be beside the items; known at the end.
    """

    plan: PlanId
    name: str
    source: str
    at: datetime
    phase: PlanPhase = PlanPhase.IDLE
    target: str = ""
    base: str = ""
    parallel: int = 0
    stop: StopReason | None = None
    remedy: str = ""
    begun_at: datetime | None = None
    ended_at: datetime | None = None
    elapsed: timedelta = timedelta(0)
    counts: Mapping[ItemStatus, int] = field(default_factory=dict)
    active: tuple[Active, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    queue: tuple[Queued, ...] = ()
    done: tuple[Settled, ...] = ()
    undone: tuple[Settled, ...] = ()
    money: Money = Money()
    news: tuple[EventRow, ...] = ()
    take_over: str = ""
    pull_request: str = ""
    written: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many items there are."""
        return sum(self.counts.values())

    def count(self, *statuses: ItemStatus) -> int:
        """How many items have one of these statuses."""
        return sum(self.counts.get(status, 0) for status in statuses)


def at_moment(standing: Progress, at: datetime, live: Live | None = None, news: tuple[EventRow, ...] = ()) -> Progress:
    """What the ledger says, with the time that has passed and what is happening right now."""
    active = tuple(_enliven(each, at, live) for each in standing.active)
    end = at if standing.phase is not PlanPhase.IDLE else standing.ended_at or at
    elapsed = max(end - standing.begun_at, timedelta(0)) if standing.begun_at else timedelta(0)
    return replace(standing, at=at, elapsed=elapsed, active=active, news=news)


def _enliven(active: Active, at: datetime, live: Live | None) -> Active:
    elapsed = max(at - active.since, timedelta(0))
    attempt = live.attempts.get(active.item) if live else None
    if live is None or attempt is None:
        hold = live.holds.get(active.item, "") if live else ""
        return replace(active, elapsed=elapsed, quiet=elapsed, hold=hold)
    return _with_actions(active, attempt, at, elapsed)


def _with_actions(active: Active, attempt: LiveAttempt, at: datetime, elapsed: timedelta) -> Active:
    quiet = max(at - attempt.acted_at, timedelta(0)) if attempt.acted_at else elapsed
    return replace(
        active, elapsed=elapsed, quiet=quiet, last_action=attempt.last_action, tokens=attempt.tokens, is_under_way=True
    )


def name_whom(whom: str) -> str:
    """For whom a run waits, for people: a person, or somebody by name."""
    kind, _, name = whom.partition(":")
    if kind == PARTS:
        return "its parts"
    return name if kind == "person" and name else "a person"


def headline(progress: Progress) -> str:
    """What is being waited for, in one line: work that takes long must not look dead."""
    busy = [active for active in progress.active if active.is_under_way]
    if progress.phase is PlanPhase.STOPPING:
        return _stopping(progress, len(busy))
    if busy:
        return _working(busy)
    if progress.active:
        return _between(progress)
    if progress.waiting:
        return _waiting(progress)
    return "nothing is running" if progress.phase is PlanPhase.IDLE else "looking for what can start"


def _between(progress: Progress) -> str:
    first, count = progress.active[0], len(progress.active)
    if progress.phase is not PlanPhase.IDLE:
        return f"{first.item} is about to go on" + (f": {first.hold}" if first.hold else "")
    tasks = "task that was begun goes" if count == 1 else "tasks that were begun go"
    again = name_command(progress.source, progress.name)
    return f"nobody is at work; {count} {tasks} on with the next `{again}`"


def _stopping(progress: Progress, busy: int) -> str:
    why = f" ({progress.stop})" if progress.stop else ""
    if not busy:
        return f"stopping{why}"
    return f"stopping{why}: waiting for {busy} {'attempt' if busy == 1 else 'attempts'} to end and be saved"


def _working(busy: list[Active]) -> str:
    agents = sum(bool(active.agent) for active in busy)
    checks = len(busy) - agents
    parts = [f"{agents} agent{'s' if agents != 1 else ''} at work"] if agents else []
    parts += (
        [f"{checks} check{'s' if checks != 1 else ''} or merge{'s' if checks != 1 else ''} under way"] if checks else []
    )
    return ", ".join(parts)


def _waiting(progress: Progress) -> str:
    timed = [(each.until, each) for each in progress.waiting if each.until]
    if not timed:
        first = progress.waiting[0]
        return f"waiting for {name_whom(first.whom)}: {first.item}: {first.reason}"
    until, first = min(timed, key=lambda pair: pair[0])
    return f"waiting until {until.astimezone().strftime('%H:%M:%S')}: {first.item}: {first.reason}"
