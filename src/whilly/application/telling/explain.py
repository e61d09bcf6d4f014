"""Why a work item is where it is: the first condition that is not met, with its evidence and its age."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from whilly.application.telling.going_on import name_command
from whilly.application.telling.progress import Progress, name_whom
from whilly.application.telling.rows import AttemptRow, ItemRow
from whilly.domain.attempt import Evidence
from whilly.domain.flow.milestone import ISSUE_STAGES
from whilly.domain.flow.plan_run import PlanPhase, StopReason
from whilly.domain.flow.run import PARTS, REVIEWERS, Phase, Run
from whilly.domain.ids import ItemId
from whilly.domain.schedule import Wait, WaitsForFiles, WaitsForItem
from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from whilly.application.telling.progress import Active, Queued


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is known, and since when; `at` is None when it has no moment."""

    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an item is where it is.

    Attributes:
        sentence: the answer.
        facts: what it rests on, the most telling first.
        failure: what failed last, if that is why.
        remedies: what can be done about it: commands or instructions.
    """

    sentence: str
    facts: tuple[Fact, ...] = ()
    failure: Evidence | None = None
    remedies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """All that is known about an item.

    Attributes:
        items: all items of the plan.
        attempts: the item's, all its runs together, in order.
        is_attended: whether a Whilly works on the plan right now.
        branch: the branch that holds the run's work, if one is left.
    """

    row: ItemRow
    items: Mapping[ItemId, ItemRow]
    progress: Progress
    attempts: Sequence[AttemptRow]
    is_attended: bool = True
    branch: str = ""

    @property
    def name(self) -> ItemId:
        """The item's id."""
        return self.row.item.id

    @property
    def wait(self) -> Wait | None:
        """What the schedule says it waits for first, if it has not been started."""
        queued = self.queued(self.name)
        return queued.wait if queued else None

    def queued(self, item: ItemId) -> Queued | None:
        """An item's place in the queue."""
        return next((each for each in self.progress.queue if each.item == item), None)

    def active(self, item: ItemId) -> Active | None:
        """What is being done for an item."""
        return next((each for each in self.progress.active if each.item == item), None)


_STOPS = {
    StopReason.INTERRUPTED: "it was interrupted",
    StopReason.TIMEOUT: "its time was over",
    StopReason.BUDGET: "its budget is spent",
    StopReason.AUTH: "the agent is not logged in",
    StopReason.ITERATIONS: "it had started as many attempts as it may",
}


def explain(case: Case) -> Explanation:
    """The answer for one item. Total: every status has one."""
    return _BY_STATUS[case.row.status](case)


def _pending(case: Case) -> Explanation:
    rest = _waits(case)
    if case.is_attended and case.progress.phase is PlanPhase.ACTIVE:
        return rest
    sentence, remedy = _nobody_works(case)
    facts = rest.facts if case.wait is None else (Fact(rest.sentence), *rest.facts)
    return Explanation(f"{case.name} has not been started: {sentence}", facts, remedies=(remedy,))


def _nobody_works(case: Case) -> tuple[str, str]:
    progress = case.progress
    again = name_command(progress.source, progress.name)
    if progress.phase is PlanPhase.STOPPING and case.is_attended:
        return f"work on the plan is stopping: {_STOPS[progress.stop] if progress.stop else ''}", again
    if progress.begun_at is None:
        return "work on the plan has not begun", again
    why = f" since {_STOPS[progress.stop]}" if progress.stop else ""
    return f"nobody works on the plan{why}", progress.remedy or again


def _waits(case: Case) -> Explanation:
    match case.wait:
        case WaitsForItem(dependency=dependency):
            return Explanation(
                f"{case.name} {_said(case.wait)}", _facts_about(case, dependency), remedies=_look(dependency)
            )
        case WaitsForFiles(holder=holder, held=held):
            sentence = f"{case.name} waits for {holder}, which is running: both are about to change `{held}`"
            return Explanation(sentence, _facts_about(case, holder), remedies=_look(holder))
        case _:
            busy = tuple(Fact(f"{a.item} is running: {a.stage}", a.since) for a in case.progress.active)
            sentence = (
                f"{case.name} is ready and waits for a free slot: {len(busy)} of {case.progress.parallel} are taken"
            )
            return Explanation(sentence, busy, remedies=("whilly run --parallel N gives more slots",) if busy else ())


def _said(wait: WaitsForItem) -> str:
    return f"waits for {str(wait).removeprefix('depends on ')}"


def _facts_about(case: Case, other: ItemId) -> tuple[Fact, ...]:
    """What the other item is doing, and what it waits for itself."""
    row = case.items.get(other)
    if row is None:
        return ()
    active = case.active(other)
    if active is not None:
        action = f"; last action: {active.last_action}" if active.last_action else ""
        return (Fact(f"{other}: {active.stage}, attempt {active.number}{action}", active.since),)
    queued = case.queued(other)
    if queued is not None and queued.reason:
        return (Fact(f"{other}: {queued.reason}"),)
    waiting = next((each for each in case.progress.waiting if each.item == other), None)
    return (Fact(f"{other} waits: {waiting.reason}", waiting.since),) if waiting else ()


def _look(item: ItemId) -> tuple[str, ...]:
    return (f"whilly why {item}",)


def _in_progress(case: Case) -> Explanation:
    run = case.row.run
    if run is None:
        return Explanation(f"{case.name} is in progress, but has no run")
    if run.phase is Phase.WAITING and run.wait is not None:
        return _waiting(case, run)
    if run.phase is Phase.RUNNING:
        return _running(case, run)
    return _between(case, run)


def _running(case: Case, run: Run) -> Explanation:
    active = case.active(case.name)
    who = f" by {active.agent}" if active and active.agent else ""
    what = f"stage {run.stage}, attempt {run.attempt}{who}"
    since = active.since if active else None
    if not case.is_attended:
        sentence = f"{case.name} was being worked on when Whilly ended: {what}"
        adopted = Fact("the next run collects what the agent has done meanwhile; nothing is done twice")
        return Explanation(sentence, (Fact(f"{what} began", since), adopted, *_history(case)), remedies=(_again(case),))
    facts = [Fact(f"{what} began", since)]
    if active and active.last_action:
        facts.append(Fact(f"last action: {active.last_action}", case.progress.at - active.quiet))
    return Explanation(
        f"{case.name} is being worked on: {what}", (*facts, *_history(case)), remedies=(f"whilly logs {case.name} -f",)
    )


def _between(case: Case, run: Run) -> Explanation:
    money = case.progress.money
    due = f"attempt {run.attempt + 1}, stage {run.stage}, is due"
    if not case.is_attended or case.progress.phase is not PlanPhase.ACTIVE:
        sentence, remedy = _nobody_works(case)
        return Explanation(
            f"{case.name} goes on when somebody works on the plan: {sentence}",
            (Fact(due), *_history(case)),
            remedies=(remedy,),
        )
    active = case.active(case.name)
    if active and active.hold:
        facts = (Fact(due), *_history(case))
        return Explanation(f"{case.name} waits: {active.hold}", facts, remedies=("it goes on by itself",))
    if money.budget is not None and money.spent + money.reserved >= money.budget:
        sentence = f"{case.name} waits for money: the rest of the budget is reserved by attempts under way"
        fact = Fact(f"${money.spent} spent and ${money.reserved} reserved of ${money.budget}")
        return Explanation(sentence, (fact, Fact(due), *_history(case)), remedies=("raise run.budget_usd or --budget",))
    return Explanation(f"{case.name} is about to go on: {due}", _history(case))


def _waiting(case: Case, run: Run) -> Explanation:
    wait = run.wait
    if wait is None or wait.until is None:
        return _for_a_person(case)
    until = wait.until.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    whose = "the account's limit" if wait.whom.startswith("agent") else "time"
    sentence = f"{case.name} waits until {until} for {whose}: {wait.reason}"
    remedies = () if case.is_attended else (_again(case),)
    return Explanation(sentence, (Fact("waiting began", wait.since), *_history(case)), remedies=remedies)


def _for_a_person(case: Case) -> Explanation:
    wait = case.row.run.wait if case.row.run else None
    reason = (wait.reason if wait else case.row.reason) or "it says no more"
    sentence = f"{case.name} waits for {name_whom(wait.whom if wait else '')}: {reason}"
    facts = (Fact("waiting began", wait.since),) if wait else ()
    answer = f'whilly retry {case.name} --note "…" answers and lets it go on'
    remedies: tuple[str, ...] = (answer,)
    if wait and wait.review:
        seen = wait.review[:12]
        accept = f"whilly accept {case.name} {seen} lets exactly this go on"
        remedies = (f"git show {seen}", accept, f"whilly cancel {case.name} refuses it")
    is_of_issue = case.row.run is not None and case.row.run.stage in ISSUE_STAGES
    if wait and (is_of_issue or wait.whom in {PARTS, REVIEWERS}) and not wait.review:
        again = f"{_again(case)} looks again"
        answer = f"answer there, then {again}" if wait.whom.startswith("person:") and wait.whom != REVIEWERS else again
        remedies = () if case.is_attended and wait.whom in {PARTS, REVIEWERS} else (answer,)
    elif wait and wait.is_handed_over:
        remedies = (f"whilly handoff show {case.name}", f"whilly handoff complete {case.name}")
        remedies += () if case.is_attended else (f"{_again(case)} takes the answer",)
    return Explanation(sentence, (*facts, *_history(case)), remedies=remedies)


def _failed(case: Case) -> Explanation:
    run = case.row.run
    evidence = run.ending.evidence if run and run.ending else None
    facts = list(_history(case))
    if case.branch:
        facts.append(Fact(f"its work so far is on branch {case.branch}"))
    remedies = [evidence.remedy] if evidence and evidence.remedy else []
    remedies += [f"whilly logs {case.name}", f'whilly retry {case.name} --note "what to do differently"']
    sentence = f"{case.name} failed: {case.row.reason or 'no reason is known'}"
    return Explanation(sentence, tuple(facts), evidence, tuple(remedies))


def _blocked(case: Case) -> Explanation:
    root = _find_root(case)
    facts: tuple[Fact, ...] = ()
    if root is not None:
        ended = root.reason or str(root.status)
        facts = (Fact(f"{root.item.id} {root.status}: {ended}"),)
    sentence = f"{case.name} is blocked: it {case.row.reason}" if case.row.reason else f"{case.name} is blocked"
    remedies = (
        (f"whilly why {root.item.id}", f"whilly retry {root.item.id}") if root else (f"whilly retry {case.name}",)
    )
    return Explanation(sentence, facts, remedies=remedies)


def _find_root(case: Case) -> ItemRow | None:
    """The first item along the dependencies that ended badly by itself."""
    seen: set[ItemId] = set()
    at = [case.row]
    while at:
        row = at.pop()
        for name in row.item.dependencies:
            other = case.items.get(name)
            if other is None or name in seen:
                continue
            seen.add(name)
            if other.status in {ItemStatus.FAILED, ItemStatus.SKIPPED, ItemStatus.HUMAN_LOOP}:
                return other
            if other.status is ItemStatus.BLOCKED:
                at.append(other)
    return None


def _skipped(case: Case) -> Explanation:
    sentence = f"{case.name} was skipped: {case.row.reason or 'no reason is known'}"
    return Explanation(sentence, _history(case), remedies=(f"whilly retry {case.name}",))


def _done(case: Case) -> Explanation:
    run = case.row.run
    if run is None or run.ending is None:
        return Explanation(f"{case.name} is done: {case.row.reason or 'the plan file says so'}")
    last = case.attempts[-1] if case.attempts else None
    commit = run.ending.commit
    where = f" as commit {commit[:12]} on {case.progress.target}" if commit else ""
    by = f" by attempt {last.number} ({last.stage})" if last else ""
    return Explanation(f"{case.name} is done{where}{by}", _history(case))


def _history(case: Case) -> tuple[Fact, ...]:
    """The item's latest attempts that have ended, the newest first."""
    ended = [each for each in case.attempts if each.result is not None and each.ended_at is not None]
    return tuple(Fact(_tell_attempt(each), each.ended_at) for each in reversed(ended[-5:]))


def _tell_attempt(row: AttemptRow) -> str:
    outcome = row.result.outcome if row.result else ""
    if row.result and row.result.is_escalated:
        return f"attempt {row.number} ({row.stage}) escalated: {row.result.reason}"
    reason = f": {row.result.reason}" if row.result and row.result.reason else ""
    who = f" by {row.agent}" if row.agent else ""
    return f"attempt {row.number} ({row.stage}{who}) ended as {outcome}{reason}"


def _again(case: Case) -> str:
    return name_command(case.progress.source, case.progress.name)


_BY_STATUS: Mapping[ItemStatus, Callable[[Case], Explanation]] = {
    ItemStatus.PENDING: _pending,
    ItemStatus.IN_PROGRESS: _in_progress,
    ItemStatus.HUMAN_LOOP: _for_a_person,
    ItemStatus.FAILED: _failed,
    ItemStatus.BLOCKED: _blocked,
    ItemStatus.SKIPPED: _skipped,
    ItemStatus.DONE: _done,
}
