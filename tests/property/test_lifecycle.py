"""Any event in any order: a run keeps its invariants, a plan ends, and money and files are never given twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import combinations
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from typing_extensions import override

from whilly.domain.attempt import AttemptResult, Evidence, Outcome
from whilly.domain.claims import overlaps
from whilly.domain.flow.budget import Spend, is_exhausted, settle
from whilly.domain.flow.event import (
    AttemptEnded,
    AttemptHandedOver,
    AttemptStarted,
    BudgetSpent,
    CancelRequested,
    Deferred,
    Released,
    RunEvent,
    StopRequested,
    Told,
)
from whilly.domain.flow.lifecycle import (
    BACKOFF,
    MAX_INTERRUPTIONS,
    MAX_NOTES,
    CloseRun,
    Decision,
    StartAttempt,
    decide,
    due,
)
from whilly.domain.flow.pipeline import END, Pipeline, Route, Stage
from whilly.domain.flow.plan_run import Grant, Limits, PlanPhase, PlanRun, StopReason, activate, admit, stop
from whilly.domain.flow.run import Phase, Run
from whilly.domain.ids import CommitId, ItemId, PlanId, RunId, SessionId
from whilly.domain.schedule import Frontier
from whilly.domain.work_item import ItemStatus, Priority, WorkItem

if TYPE_CHECKING:
    from collections.abc import Sequence

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
BY_A_PERSON = {Outcome.LIMITED, Outcome.ASKED, Outcome.AUTH_FAILED, Outcome.BLOCKED, Outcome.PARTIAL}
"""Outcomes that may come for ever, because somebody has to mend something each time."""
FINGERPRINTS = st.sampled_from(["", "", "a", "b", "c"])


def solo(attempts: int = 3, repairs: int = 3, resolves: int = 2, *, has_plan: bool = False) -> Pipeline:
    """The shape of the pipeline for one developer, with other limits; a plan may come before."""
    repair, resolve = Route("repair", repairs), Route("resolve", resolves)
    stages = [
        Stage("plan", "split", role="planner", routes={Outcome.NO_PROGRESS: Route("split", 1, then="split")}),
        Stage(
            "split",
            "execute",
            action="split",
            branches={"small": "verify"},
            routes={Outcome.REJECTED: Route("plan", repairs, then="execute")},
            attempts=attempts,
        ),
    ][: 2 * has_plan]
    stages += [
        Stage("execute", "verify", role="developer", attempts=attempts),
        Stage("verify", "integrate", action="verify", routes={Outcome.REJECTED: repair}, attempts=attempts),
        Stage("repair", "verify", role="developer", attempts=attempts),
        Stage(
            "integrate",
            END,
            action="integrate",
            routes={Outcome.REJECTED: repair, Outcome.CONFLICT: resolve},
            attempts=attempts,
        ),
        Stage("resolve", "verify", role="developer", attempts=attempts),
    ]
    return Pipeline("solo", stages[0].name, {stage.name: stage for stage in stages})


PIPELINES = st.builds(solo, st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), has_plan=st.booleans())


def most_attempts(pipeline: Pipeline) -> int:
    """How many attempts a run can have, whatever comes of them, unless a person has to mend something each time.

    A run enters a stage at most once on its way between two routes; each route is taken within its limit; in one stay
    each try that counts may have so many outages and interruptions before it.
    """
    targets: dict[str, int] = {}
    for stage in pipeline.stages.values():
        for route in stage.routes.values():
            targets[route.to] = max(route.limit, targets.get(route.to, 0))
    stays = (1 + sum(targets.values())) * len(pipeline.stages)
    tries = max(stage.attempts for stage in pipeline.stages.values())
    return stays * tries * (1 + len(BACKOFF) + MAX_INTERRUPTIONS)


@st.composite
def results(
    draw: st.DrawFn, outcomes: Sequence[Outcome] = tuple(Outcome), deliberate: Sequence[bool] = (False, False, True)
) -> AttemptResult:
    return AttemptResult(
        outcome=draw(st.sampled_from(outcomes)),
        reason=draw(st.sampled_from(["", "why"])),
        session=draw(st.sampled_from([None, SessionId("s")])),
        commit=draw(st.sampled_from([None, CommitId("c" * 40)])),
        evidence=draw(st.one_of(st.none(), st.builds(Evidence, st.just("e"), fingerprint=FINGERPRINTS))),
        retry_at=draw(st.sampled_from([None, NOON - timedelta(days=1), NOON + timedelta(days=1)])),
        is_deliberate=draw(st.sampled_from(deliberate)),
        branch=draw(st.sampled_from(["", "", "small", "unknown"])),
    )


class RunsOfAnyLife(RuleBasedStateMachine):
    """One run that hears everything at any time: in turn, too late, twice, for another attempt."""

    @initialize(pipeline=PIPELINES)
    def begin(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.run = Run(RunId("r"), PlanId("p"), ItemId("T-1"), "solo", pipeline.first)
        self.outcomes: dict[int, Outcome] = {}
        self.free = 0

    def tell(self, event: RunEvent) -> Decision:
        """What holds for every event: a value comes back, and a refusal changes nothing."""
        before = self.run
        decision = decide(before, event, self.pipeline)
        assert decide(before, event, self.pipeline) == decision
        if decision.refusal:
            assert decision.run is before
        if before.is_ended:
            assert decision.refusal
        self.run = decision.run
        return decision

    @rule(ahead=st.sampled_from([1, 1, 1, 1, 0, 2, -1]), stage=st.sampled_from(["", "", "", "verify", "nowhere"]))
    def start(self, ahead: int, stage: str) -> None:
        step = due(self.run)
        number, stage = self.run.attempt + ahead, stage or self.run.stage
        is_next = isinstance(step, StartAttempt) and (number, stage) == (step.number, step.stage)
        decision = self.tell(AttemptStarted(number, stage, NOON))
        assert (decision.refusal == "") == is_next
        if is_next:
            assert (self.run.phase, self.run.attempt) == (Phase.RUNNING, number)

    @rule(behind=st.sampled_from([0, 0, 0, 0, 1, -1]), result=results())
    def end(self, behind: int, result: AttemptResult) -> None:
        number = self.run.attempt - behind
        is_current, was_stopped = self.run.has_attempt and behind == 0, bool(self.run.stop)
        decision = self.tell(AttemptEnded(number, result, NOON))
        assert (decision.refusal == "") == is_current
        if is_current:
            assert number not in self.outcomes
            self.outcomes[number] = result.outcome
            self.free += was_stopped or result.is_deliberate or result.outcome in BY_A_PERSON
            assert self.run.stop == ""
            if was_stopped and result.outcome is not Outcome.COMPLETED:
                assert self.run.wait is None or self.run.wait.whom == "person"

    @rule(behind=st.sampled_from([0, 0, 1]), reason=st.sampled_from(["handed over", "spoiled"]))
    def hand_over(self, behind: int, reason: str) -> None:
        is_current, since = self.run.has_attempt and behind == 0, self.run.wait.since if self.run.wait else None
        decision = self.tell(AttemptHandedOver(self.run.attempt - behind, NOON, "person", reason))
        assert (decision.refusal == "") == is_current
        if is_current:
            assert self.run.has_attempt
            assert self.run.wait is not None
            assert since in {None, self.run.wait.since}

    @rule()
    def stop(self) -> None:
        could_be = self.run.has_attempt or self.run.phase is Phase.QUEUED
        assert (self.tell(StopRequested("ada", NOON)).refusal == "") == could_be
        assert bool(self.run.stop) == self.run.has_attempt or not could_be

    @rule()
    def say(self) -> None:
        before = self.run
        if not self.tell(Told("ada", NOON, "use tabs")).refusal:
            assert self.run.notes[-1] == "ada says: use tabs"
            assert len(self.run.notes) <= MAX_NOTES
            assert (self.run.phase, self.run.wait, due(self.run)) == (before.phase, before.wait, due(before))

    @rule(note=st.sampled_from(["", "go on"]))
    def release(self, note: str) -> None:
        was_waiting = self.run.phase is Phase.WAITING and not self.run.has_attempt
        assert (self.tell(Released("ada", NOON, note)).refusal == "") == was_waiting

    @rule(hours=st.sampled_from([-1, 0, 1]))
    def defer(self, hours: int) -> None:
        before, is_due = self.run, isinstance(due(self.run), StartAttempt)
        decision = self.tell(Deferred("claude", NOON, NOON + timedelta(hours=hours), "limited"))
        assert (decision.refusal == "") == is_due
        if is_due:
            kept = ("stage", "attempt", "tries", "outages", "interruptions", "session", "evidence")
            assert [getattr(self.run, name) for name in kept] == [getattr(before, name) for name in kept]
            assert self.run.not_before is not None
            assert self.run.not_before > NOON

    @precondition(lambda self: self.run.attempt > 3)
    @rule()
    def spend_it_all(self) -> None:
        is_due = isinstance(due(self.run), StartAttempt)
        assert (self.tell(BudgetSpent(NOON, "spent")).refusal == "") == is_due
        assert self.run.is_ended or not is_due

    @precondition(lambda self: self.run.attempt > 3)
    @rule()
    def cancel(self) -> None:
        was_ended = self.run.is_ended
        assert (self.tell(CancelRequested("ada", NOON)).refusal == "") == (not was_ended)
        assert self.run.is_ended

    @invariant()
    def something_is_due_unless_it_runs_or_somebody_must_act(self) -> None:
        step, run = due(self.run), self.run
        waits_for_somebody = run.phase is Phase.WAITING and run.wait is not None and run.wait.until is None
        assert (step is None) == (run.phase is Phase.RUNNING or waits_for_somebody)
        assert isinstance(step, CloseRun) == run.is_ended

    @invariant()
    def its_phase_and_its_facts_agree(self) -> None:
        run = self.run
        assert (run.wait is not None) == (run.phase is Phase.WAITING)
        assert (run.ending is not None) == (run.phase is Phase.ENDED)
        assert (run.not_before is not None) == (run.wait is not None and run.wait.until is not None)
        assert run.stage in self.pipeline.stages

    @invariant()
    def every_loop_is_bounded(self) -> None:
        assert self.run.attempt - self.free <= most_attempts(self.pipeline)
        for stage in self.pipeline.stages.values():
            for route in stage.routes.values():
                assert self.run.rounds.get(route.to, 0) <= max(
                    each.routes[outcome].limit
                    for each in self.pipeline.stages.values()
                    for outcome in each.routes
                    if each.routes[outcome].to == route.to
                )


def drive(run: Run, result: AttemptResult, pipeline: Pipeline) -> Run:
    """The run after its next attempt came to this; itself when nothing is due any more."""
    step = due(run)
    if not isinstance(step, StartAttempt):
        return run
    run = decide(run, AttemptStarted(step.number, step.stage, NOON), pipeline).run
    return decide(run, AttemptEnded(step.number, result, NOON), pipeline).run


@given(
    pipeline=PIPELINES,
    story=st.lists(
        st.tuples(results([o for o in Outcome if o not in BY_A_PERSON], [False]), st.sampled_from([1, 1, 1, 3, 10])),
        max_size=40,
    ),
    refrain=results([o for o in Outcome if o not in BY_A_PERSON], [False]),
)
def test_a_run_that_is_always_driven_on_ends_by_itself(
    pipeline: Pipeline, story: list[tuple[AttemptResult, int]], refrain: AttemptResult
) -> None:
    run = Run(RunId("r"), PlanId("p"), ItemId("T-1"), "solo", pipeline.first)
    for result, times in [*story, (refrain, most_attempts(pipeline) + 1)]:
        for _ in range(times):
            run = drive(run, result, pipeline)
    assert run.is_ended
    assert run.attempt <= most_attempts(pipeline)


CLAIMS = ("src", "src/app/a.py", "src/app/b.py", "docs", "docs/a.md", "**/*.py")
CAP = Decimal(5)
RESERVATION = Decimal(1)


@st.composite
def plans(draw: st.DrawFn) -> list[WorkItem]:
    ids = [ItemId(f"T-{number}") for number in range(draw(st.integers(1, 8)))]
    return [
        WorkItem(
            item,
            "a task",
            priority=draw(st.sampled_from(list(Priority))),
            dependencies=tuple(draw(st.lists(st.sampled_from(ids[:number]), max_size=2, unique=True)))
            if number
            else (),
            key_files=tuple(draw(st.lists(st.sampled_from(CLAIMS), max_size=2, unique=True))),
        )
        for number, item in enumerate(ids)
    ]


class WholePlans(RuleBasedStateMachine):
    """Frontier, `decide` and the budget together, as the ledger plays them, in any order of events."""

    @initialize(items=plans(), slots=st.integers(1, 4), cap=st.sampled_from([CAP, CAP, None]), pipeline=PIPELINES)
    def begin(self, items: list[WorkItem], slots: int, cap: Decimal | None, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.items = {item.id: item for item in items}
        self.frontier = Frontier(items, {})
        limits = Limits(parallel=slots, budget=cap, reservation=RESERVATION)
        self.plan: PlanRun = activate(PlanRun(PlanId("p")), limits, base="main", target="main")
        self.runs: dict[ItemId, Run] = {}
        self.reserved: dict[tuple[ItemId, int], Decimal] = {}
        self.settled = Decimal(0)
        self.now = NOON
        self.fill()

    def fill(self) -> None:
        """Give free slots to items, as every transaction of the ledger does at its end."""
        if self.plan.phase is not PlanPhase.ACTIVE:
            return
        taken = sum(run.phase in {Phase.QUEUED, Phase.RUNNING} for run in self.runs.values())
        for item in self.frontier.start(max(0, self.plan.limits.parallel - taken)):
            self.runs[item] = Run(RunId(item), PlanId("p"), item, "solo", self.pipeline.first)

    @property
    def spend(self) -> Spend:
        return Spend(self.settled, sum(self.reserved.values(), Decimal(0)))

    def open_runs(self, *phases: Phase) -> list[Run]:
        return [run for run in self.runs.values() if run.phase in phases]

    def under_way(self) -> list[Run]:
        return [run for run in self.runs.values() if run.has_attempt]

    def store(self, run: Run) -> None:
        self.runs[run.item] = run
        if run.ending:
            self.frontier.finish(run.item, run.ending.status)
        self.fill()

    def claim(self, run: Run) -> bool:
        """Start the run's next attempt if it is let."""
        step = due(run)
        assert isinstance(step, StartAttempt)
        if step.not_before and step.not_before > self.now:
            return False
        is_agent = self.pipeline.stages[step.stage].is_agent
        verdict = admit(self.plan, self.spend, RESERVATION if is_agent else Decimal(0), is_agent=is_agent)
        if not isinstance(verdict, Grant):
            if verdict.stop:
                self.plan = stop(self.plan, verdict.stop)
            return False
        decision = decide(run, AttemptStarted(step.number, step.stage, self.now), self.pipeline)
        assert decision.refusal == ""
        if is_agent:
            self.reserved[run.item, step.number] = verdict.reserved
        self.store(decision.run)
        return True

    def pay(self, attempt: tuple[ItemId, int], cost: Decimal | None) -> None:
        """An attempt's process is gone, and what it has cost is known, or never will be."""
        before = self.settled
        reserved = self.reserved.pop(attempt, None)
        if reserved is not None:
            self.settled += settle(reserved, cost)
        assert self.settled >= before
        if is_exhausted(self.plan.limits.budget, self.spend):
            self.plan = stop(self.plan, StopReason.BUDGET)

    def finish(self, run: Run, result: AttemptResult, cost: Decimal | None) -> None:
        self.store(decide(run, AttemptEnded(run.attempt, result, self.now), self.pipeline).run)
        self.pay((run.item, run.attempt), cost)

    @property
    def superseded(self) -> list[tuple[ItemId, int]]:
        """Attempts whose run was ended by a person while their process was alive; they cost until it is gone."""
        return sorted(attempt for attempt in self.reserved if self.runs[attempt[0]].is_ended)

    @precondition(lambda self: self.open_runs(Phase.QUEUED, Phase.WAITING))
    @rule(data=st.data())
    def start_an_attempt(self, data: st.DataObject) -> None:
        able = [run for run in self.open_runs(Phase.QUEUED, Phase.WAITING) if due(run) is not None]
        if able:
            self.claim(data.draw(st.sampled_from(able)))

    @precondition(lambda self: self.open_runs(Phase.RUNNING))
    @rule(data=st.data())
    def hand_an_attempt_over(self, data: st.DataObject) -> None:
        run = data.draw(st.sampled_from(self.open_runs(Phase.RUNNING)))
        self.store(decide(run, AttemptHandedOver(run.attempt, self.now, "person", "handed over"), self.pipeline).run)

    @precondition(lambda self: self.under_way())
    @rule(
        data=st.data(),
        result=results(),
        cost=st.sampled_from([None, Decimal(0), Decimal("0.3"), RESERVATION, Decimal(-1), Decimal("NaN")]),
    )
    def end_an_attempt(self, data: st.DataObject, result: AttemptResult, cost: Decimal | None) -> None:
        self.finish(data.draw(st.sampled_from(self.under_way())), result, cost)

    @precondition(lambda self: self.superseded)
    @rule(data=st.data(), cost=st.sampled_from([None, Decimal(0), RESERVATION]))
    def a_cancelled_attempt_is_gone(self, data: st.DataObject, cost: Decimal | None) -> None:
        self.pay(data.draw(st.sampled_from(self.superseded)), cost)

    @rule(minutes=st.sampled_from([1, 10, 60 * 24]))
    def let_time_pass(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), note=st.sampled_from(["", "go on"]), is_over=st.sampled_from([False, False, True]))
    def a_person_speaks(self, data: st.DataObject, note: str, *, is_over: bool) -> None:
        run = self.runs[data.draw(st.sampled_from(sorted(self.runs)))]
        event = CancelRequested("ada", self.now, note) if is_over else Released("ada", self.now, note)
        decision = decide(run, event, self.pipeline)
        if not decision.refusal:
            self.store(decision.run)

    @invariant()
    def the_budget_is_passed_by_no_more_than_one_reservation(self) -> None:
        cap = self.plan.limits.budget
        if cap is not None:
            assert self.settled + self.spend.reserved <= cap + RESERVATION

    @invariant()
    def no_two_runs_hold_the_same_files(self) -> None:
        held = [self.items[run.item] for run in self.open_runs(Phase.QUEUED, Phase.RUNNING, Phase.WAITING)]
        for one, other in combinations(held, 2):
            assert not any(overlaps(a, b) for a in one.key_files for b in other.key_files), (one.id, other.id)

    @override
    def teardown(self) -> None:
        """From wherever it is, the plan ends when everybody just does their part."""
        if not hasattr(self, "plan"):
            return
        bound = len(self.items) * (most_attempts(self.pipeline) + 1)
        for _ in range(bound):
            for run in self.under_way():
                self.finish(run, AttemptResult(Outcome.COMPLETED), Decimal(0))
            for attempt in self.superseded:
                self.pay(attempt, Decimal(0))
            self.now += timedelta(days=2)
            able = [run for run in self.open_runs(Phase.QUEUED, Phase.WAITING) if due(run) is not None]
            started = [run for run in able if self.claim(run)]
            if not started:
                break
        assert not self.open_runs(Phase.RUNNING)
        waits = [run for run in self.open_runs(Phase.WAITING) if due(run) is None]
        if self.plan.phase is PlanPhase.ACTIVE:
            assert len(waits) == len(self.open_runs(Phase.QUEUED, Phase.WAITING))
            held = {run.item for run in waits}
            for item, status in self.frontier.statuses.items():
                assert status is not ItemStatus.PENDING or self.stands_behind(item, held)

    def stands_behind(self, item: ItemId, held: set[ItemId]) -> bool:
        """Whether an item waits, directly or through others, for one that waits for a person."""
        this, statuses = self.items[item], self.frontier.statuses
        waited = {each for each in this.dependencies if statuses[each] is not ItemStatus.DONE}
        files = {
            other for other in held if any(overlaps(a, b) for a in this.key_files for b in self.items[other].key_files)
        }
        return bool((waited | files) & held) or any(self.stands_behind(each, held) for each in waited)


TestRunsOfAnyLife = RunsOfAnyLife.TestCase
TestRunsOfAnyLife.settings = settings(max_examples=100, stateful_step_count=60, deadline=None)
TestWholePlans = WholePlans.TestCase
TestWholePlans.settings = settings(max_examples=100, stateful_step_count=60, deadline=None)
