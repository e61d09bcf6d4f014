"""Drives runs: does what is due for a run, writes down what came of it, and looks again."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, final

from whilly.application.attempt_context import AttemptContext, Ports, Rules
from whilly.application.close_run import close_run
from whilly.application.live import Live, LiveAttempt
from whilly.domain.attempt import AttemptResult, Outcome
from whilly.domain.confinement import Tier
from whilly.domain.errors import PortError, Unavailable, WhillyError
from whilly.domain.flow.brief import Brief, HandedOver
from whilly.domain.flow.lifecycle import CloseRun, StartAttempt, due
from whilly.domain.flow.plan_run import Hold
from whilly.domain.machine import find_shortage
from whilly.domain.work_item import WorkItem
from whilly.engine.driving.attempt_line import AttemptLine
from whilly.engine.driving.control import Control
from whilly.engine.driving.handing import hand_over
from whilly.engine.driving.patience import patiently
from whilly.engine.ledger import Claimed, Ledger, Offer

if TYPE_CHECKING:
    from datetime import datetime

    from whilly.domain.flow.run import Run
    from whilly.domain.ids import PlanId, RunId
    from whilly.engine.reading import Position, Reading

Handler = Callable[[Brief, AttemptContext], Awaitable[AttemptResult | HandedOver]]

HOLD_SECONDS = 0.5
"""How soon a run that may not go on asks again."""


def _stay_open(_item: WorkItem) -> Tier:
    return Tier.OPEN


@dataclass(frozen=True, slots=True)
class Post:
    """Who works in a role; empty is whoever works anywhere."""

    agent: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Staff:
    """Who does what.

    Attributes:
        handlers: by a stage's action; the empty name is the one for agents, `handoff` the one for people.
        default_agent: for items that name none.
        substitutes: agents that take over while its account is limited, in order.
        default_model: of the default agent; another one's words for models are others.
        reservation: USD to set aside for an agent's attempt.
        render: fills a prompt template.
        attempts_root: holds the private directories of attempts.
        tier_of: the tier that an item's run belongs to.
        posts: by role.
    """

    handlers: Mapping[str, Handler]
    default_agent: str
    default_model: str
    reservation: Decimal
    branch_prefix: str
    render: Callable[[str, Mapping[str, object]], str]
    attempts_root: Path
    substitutes: tuple[str, ...] = ()
    tier_of: Callable[[WorkItem], Tier] = _stay_open
    posts: Mapping[str, Post] = field(default_factory=dict)

    def able(self, item: WorkItem, role: str = "") -> tuple[str, ...]:
        """Agents that may do the item in a role, the one that is meant first; who names an agent wants no other."""
        named = item.agent or self.posts.get(role, Post()).agent
        return (named,) if named else (self.default_agent, *self.substitutes)

    def model_of(self, wanted: str, agent: str, role: str = "") -> str:
        """The model to ask `agent` for; empty leaves the choice to it."""
        post = self.posts.get(role, Post())
        of_role = post.model if agent == (post.agent or self.default_agent) else ""
        return wanted or of_role or (self.default_model if agent == self.default_agent else "")


@final
class Driver:
    """Takes runs as far as they go. The same run is never driven twice at a time in one process.

    Args:
        held: the outside world as contained work sees it, where that is not `ports`.
    """

    def __init__(
        self,
        ledger: Ledger,
        reading: Reading,
        ports: Ports,
        rules: Rules,
        staff: Staff,
        held: Callable[[], Ports] | None = None,
    ) -> None:
        self._held = held
        self._ledger = ledger
        self._reading = reading
        self._ports = ports
        self._rules = rules
        self._staff = staff
        self._driving: set[RunId] = set()
        self._asked: set[RunId] = set()
        self._claiming: set[RunId] = set()
        self._lanes: dict[str, asyncio.Lock] = {}
        self.plan: PlanId | None = None
        """The plan that is worked on; what a dead process began for another one waits until that is worked on."""
        self.left: dict[RunId, str] = {}
        """Runs whose workspace could not be put away, and why; that is tried again next time."""
        self.control = Control()
        self.live = Live(ports.clock)
        self.failure: BaseException | None = None

    @property
    def driving(self) -> frozenset[RunId]:
        """The runs that are being driven by this process."""
        return frozenset(self._driving)

    @property
    def is_idle(self) -> bool:
        """Whether no run is being driven by this process."""
        return not self._driving

    async def drive(self, run: RunId) -> None:
        """Take a run as far as it goes now; asking twice is harmless."""
        self._asked.add(run)
        if run in self._driving:
            return
        self._driving.add(run)
        try:
            while run in self._asked:
                self._asked.discard(run)
                position: Position | None = await self._look(run)
                while position is not None:
                    position = await self._step(position)
        finally:
            # Without the ledger, or with a fault of our own, nothing may go on: whoever started the engine has to know.
            self.failure = self.failure or sys.exception()
            self._driving.discard(run)
            self._claiming.discard(run)

    async def _step(self, position: Position) -> Position | None:
        """Do what is due for the run; where it is then, None when there is nothing more to do now."""
        run = position.run
        if run.plan != self.plan:
            return None
        if position.is_under_way:
            if run.is_ended:
                # It was cancelled while nobody drove it; its process may be alive, and its cost is not known yet.
                self.control.end(run.id)
            if run.stop:
                self.control.stop_attempt(run.id, run.attempt, run.stop)
            return await self._attempt(position)
        match due(run):
            case StartAttempt() as step:
                return await self._start(position, step)
            case CloseRun(keep_branch=keep_branch):
                await self._close(position, keep_branch=keep_branch)
                return None
            case None:
                return None

    async def _look(self, run: RunId) -> Position:
        return await patiently(self._reading.position, run)

    def _ports_of(self, item: WorkItem) -> Ports:
        if self._held is None or self._staff.tier_of(item) is Tier.OPEN:
            return self._ports
        return self._held()

    async def _close(self, position: Position, *, keep_branch: bool) -> None:
        run = position.run
        try:
            await close_run(run.id, self._ports_of(position.item), keep_branch=keep_branch)
        except (PortError, OSError) as error:
            self.left[run.id] = str(error)
            return
        self.left.pop(run.id, None)
        await patiently(self._ledger.close_run, run.id, run.plan)

    async def _start(self, position: Position, step: StartAttempt) -> Position | None:
        run = position.run
        if not position.plan.lets_start(is_agent=position.stage.is_agent):
            return None
        if step.not_before and self._until(step.not_before) > 0:
            self.live.held(run.item, run.wait.reason if run.wait else "")
            await self._wait_for(step.not_before, run)
            return await self._look(run.id)
        if shortage := self._find_shortage(position):
            self.live.held(run.item, shortage)
            await asyncio.sleep(HOLD_SECONDS)
            return await self._look(run.id)
        self._claiming |= {run.id} if position.stage.is_agent else set()
        claim = await self._claim(position)
        if not isinstance(claim, Hold):
            return position.under_way(claim.run, claim.event, claim.plan)
        self._claiming.discard(run.id)
        self.live.held(run.item, claim.reason)
        if claim.stop:
            self.control.stop(run.plan, claim.stop)
        await asyncio.sleep(HOLD_SECONDS)
        return await self._look(run.id)

    def _until(self, moment: datetime) -> float:
        return (moment - self._ports.clock.now()).total_seconds()

    async def _wait_for(self, moment: datetime, run: Run) -> None:
        """Until then, or until somebody says something about the run; a limit may last for days, so nobody is asked."""
        is_over = False
        while not is_over:
            left = self._until(moment)
            await asyncio.sleep(min(max(left, 0), HOLD_SECONDS))
            is_over = left <= HOLD_SECONDS or run.id in self._asked or self.control.is_stopping(run.plan)
        self._asked.discard(run.id)

    def _find_shortage(self, position: Position) -> str:
        """Why the machine has no room for the run's next attempt; empty when it has, or needs none."""
        first = self._ports.agents.get(self._staff.able(position.item, position.stage.role)[0])
        if not position.stage.is_agent or first is None or first.facts().is_person:
            return ""
        # Those that are being claimed at this moment count: two must not see the same room.
        claiming = len(self._claiming - {position.run.id})
        working = claiming + sum(bool(each.agent) for each in self.live.attempts.values())
        return find_shortage(self._ports.machine.measure(), self._rules.machine, working=working)

    async def _claim(self, position: Position) -> Claimed | Hold:
        run, stage = position.run, position.stage
        base = None
        if run.base is None or stage.renews:
            # An attempt without a base comes to an outcome that is tried again, within limits.
            with suppress(PortError):
                base = await self._ports.repository.find_commit(f"refs/heads/{position.plan.target}")
        first, *others = self._staff.able(position.item, stage.role) if stage.is_agent else ("",)
        substitutes = tuple(Offer(name, self._expected_cost(name)) for name in others)
        tier = self._staff.tier_of(position.item)
        offer = Offer(first, self._expected_cost(first), base=base, substitutes=substitutes, tier=tier)
        return await patiently(self._ledger.claim, run.id, run.plan, offer)

    def _expected_cost(self, agent: str) -> Decimal:
        known = self._ports.agents.get(agent)
        return Decimal(0) if known is None or known.facts().is_free else self._staff.reservation

    async def _attempt(self, position: Position) -> Position | None:
        """Carry out the attempt that is under way on paper, whether or not it has begun for real."""
        run, stage = position.run, position.stage
        brief = self._brief(position)
        line = AttemptLine(run, self._ledger, self.control, self.live, is_agent=stage.is_agent)
        context = AttemptContext(self._ports_of(position.item), self._rules, line, self._staff.render)
        if run.wait is None:
            started = LiveAttempt(run.item, run.attempt, stage.name, brief.agent, position.started_at, brief.home)
            self.live.started(started)
        self._claiming.discard(run.id)
        result: AttemptResult | HandedOver
        try:
            result = await self._handle(brief, context)
        except Unavailable as error:
            retry_at = self._ports.clock.now() + error.retry_after if error.retry_after else None
            result = AttemptResult(Outcome.UNAVAILABLE, str(error), retry_at=retry_at)
        except Exception as error:  # noqa: BLE001  (the outermost scope of an effect: every attempt ends with an outcome)
            result = AttemptResult(Outcome.CRASHED, _explain(error))
        finally:
            self.live.ended(run.item)
        if isinstance(result, HandedOver):
            return await self._leave(position, result)
        return await self._finish(position, result)

    async def _leave(self, position: Position, handed: HandedOver) -> Position | None:
        """Let somebody work on it, and look again soon; not at all when the plan stops, which they need not."""
        run, wait = position.run, position.run.wait
        if not run.is_ended and (wait is None or (wait.whom, wait.reason) != (handed.whom, handed.reason)):
            await patiently(hand_over, self._ledger, run, handed)
        if not position.plan.lets_start(is_agent=True) or self.control.is_stopping(run.plan):
            return None
        await asyncio.sleep(HOLD_SECONDS)
        return await self._look(run.id)

    async def _handle(self, brief: Brief, context: AttemptContext) -> AttemptResult | HandedOver:
        agent = self._ports.agents.get(brief.agent)
        action = "handoff" if agent is not None and agent.facts().is_person else brief.stage.action
        handler = self._staff.handlers.get(action)
        if handler is None:
            return AttemptResult(Outcome.CRASHED, f"nobody can do {action!r}, the action of stage {brief.stage.name}")
        if action != "integrate":
            return await handler(brief, context)
        async with self._lane(brief.target):
            return await handler(brief, context)

    async def _finish(self, position: Position, result: AttemptResult) -> Position:
        run, agent = position.run, self._ports.agents.get(position.agent)
        remedy = agent.facts().remedy if agent else ""
        after = await patiently(self._ledger.end_attempt, run.id, run.plan, run.attempt, result, remedy)
        return position.ended(after, self._reading.stage(after), result)

    def _lane(self, target: str) -> asyncio.Lock:
        return self._lanes.setdefault(target, asyncio.Lock())

    def _brief(self, position: Position) -> Brief:
        run, stage = position.run, position.stage
        return Brief(
            run=run,
            stage=stage,
            item=position.item,
            home=str(self._staff.attempts_root / run.id / str(run.attempt)),
            branch=f"{self._staff.branch_prefix}{run.item}",
            target=position.plan.target,
            agent=position.agent,
            model=self._staff.model_of(position.item.model, position.agent, stage.role),
            max_cost_usd=position.reserved if position.plan.limits.has_budget else None,
            spent_usd=position.spent,
            booked=position.booked,
            began_at=position.started_at,
            candidate=position.candidate,
            instructions=position.instructions,
            source=position.source,
        )


def _explain(error: Exception) -> str:
    """An error in one line; one that nobody raised on purpose says where it came from."""
    if isinstance(error, WhillyError):
        return str(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"internal error: {type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})"
