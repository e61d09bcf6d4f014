"""The life of a run, as one pure function: `decide(run, event, pipeline) -> Decision`.

Theory of operation
-------------------
A run is a position in a pipeline. Only events move it, and `decide` is the only place that says how:

    queued ──attempt started──▶ running ──attempt ended──▶ queued    (next stage, a route, or another try)
      ▲ │                          │                  ├──▶ waiting   (time, a person)
      │ └──deferred──▶ waiting     │                  │              (an account's limit)
      └───── time, or released ────┼──────────────────┘
                                   ├──▶ waiting, handed over ──attempt ended──▶ as above
                                   └──────────────────────▶ ended    (done, failed, skipped)

* The function is total. An event that does not fit is refused with a reason, and the run is unchanged: a late result
  of a superseded attempt, a second answer to the same question, anything after the end.
* It does nothing. What is to be done next follows from the position it returns: `due(run)`.
* Every loop is bounded: routes by their limit, tries by the stage's `attempts`, outages by `BACKOFF`, interruptions
  by `MAX_INTERRUPTIONS`. Only what a person has to mend may come as often as it takes: an account's limit, a missing
  login (which stops the plan), a question, a part that a person has done. What Whilly itself ended counts for nothing.
* Nothing here is random or reads a clock: times come in with the events, jitter is derived from the run's id.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeGuard, assert_never

from whilly.domain.attempt import AttemptResult, Evidence, Outcome
from whilly.domain.flow.account import LEAST_PAUSE
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
from whilly.domain.flow.pipeline import END, Pipeline, Route, Stage
from whilly.domain.flow.run import Ending, Phase, Run, Wait
from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BACKOFF = tuple(timedelta(seconds=s) for s in (5, 10, 20, 40, 60))
"""Pauses before the tries after an outage; one outage more than these ends the run."""

JITTER = 0.2
"""Pauses are lengthened by up to this share, so that parallel runs do not come back at once."""

PERSON = "person"
"""Whom a run waits for when it is nobody in particular."""

MAX_NOTES = 20
"""How many notes of people a run keeps, the latest."""

MAX_INTERRUPTIONS = 5
"""Interruptions in a row before a run fails: something kills its attempts from outside."""


@dataclass(frozen=True, slots=True)
class StartAttempt:
    """The next attempt is to be started, not before a moment if one is given."""

    number: int
    stage: str
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class CloseRun:
    """The run has ended; its workspace is to be put away."""

    keep_branch: bool


@dataclass(frozen=True, slots=True)
class Decision:
    """A run's new position, or why the event was refused."""

    run: Run
    refusal: str = ""


def due(run: Run) -> StartAttempt | CloseRun | None:
    """What is to be done for this run now; None while an attempt is under way or somebody must act."""
    if run.ending:
        return CloseRun(keep_branch=run.ending.status is not ItemStatus.DONE)
    if run.phase is Phase.RUNNING or (run.wait and run.wait.until is None):
        return None
    return StartAttempt(run.attempt + 1, run.stage, run.not_before)


def decide(run: Run, event: RunEvent, pipeline: Pipeline) -> Decision:
    """Where `event` takes `run`. Total, deterministic, without side effects."""
    if run.is_ended:
        return _refuse(run, f"the run has ended as {run.ending.status if run.ending else 'unknown'}")
    match event:
        case AttemptStarted():
            decision = _started(run, event)
        case AttemptEnded():
            decision = _ended(run, event, pipeline)
        case BudgetSpent():
            decision = _unaffordable(run, event)
        case AttemptHandedOver():
            decision = _handed_over(run, event)
        case Deferred():
            decision = _deferred(run, event)
        case CancelRequested() | Released() | StopRequested() | Told():
            decision = _obey(run, event, pipeline)
        case _:
            assert_never(event)
    return decision


def _obey(run: Run, event: CancelRequested | Released | StopRequested | Told, pipeline: Pipeline) -> Decision:
    match event:
        case CancelRequested():
            return Decision(_end(run, ItemStatus.SKIPPED, _say("cancelled", event)))
        case Released():
            return _released(run, event, pipeline)
        case StopRequested():
            return _stopped(run, event)
        case Told():
            return Decision(_note(run, event))
        case _:
            assert_never(event)


def _stopped(run: Run, event: StopRequested) -> Decision:
    """Its attempt is ended, or its next one does not begin."""
    said = _say("stopped", event)
    if run.phase is Phase.QUEUED:
        return Decision(_wait(run, Wait(said, event.at, whom=PERSON)))
    if not run.has_attempt:
        return _refuse(run, "nothing is being done for it")
    return Decision(replace(run, stop=run.stop or said))


def _note(run: Run, event: Released | Told) -> Run:
    """The run, with what a person has said to whoever works on it next."""
    return replace(run, notes=(*run.notes, f"{event.by} says: {event.note}")[-MAX_NOTES:])


def _say(what: str, event: CancelRequested | StopRequested) -> str:
    return f"{what} by {event.by}" + (f": {event.reason}" if event.reason else "")


def _refuse(run: Run, reason: str) -> Decision:
    return Decision(run, refusal=reason)


def _started(run: Run, event: AttemptStarted) -> Decision:
    step = due(run)
    if not isinstance(step, StartAttempt):
        return _refuse(run, f"attempt {run.attempt} is under way" if run.wait is None else run.wait.reason)
    if event.number != step.number or event.stage != step.stage:
        return _refuse(run, f"attempt {step.number} of stage {step.stage} is due, not {event.number} of {event.stage}")
    return Decision(
        replace(
            run,
            phase=Phase.RUNNING,
            attempt=event.number,
            # A conversation is had with one agent; another one begins its own.
            session=run.session if not event.agent or run.agent in {"", event.agent} else None,
            agent=event.agent or run.agent,
            base=event.base or run.base,
            # From a new base on, all that is on top of it is the change.
            integrated=None if event.base else run.integrated,
            not_before=None,
            wait=None,
        )
    )


def _deferred(run: Run, event: Deferred) -> Decision:
    if not isinstance(due(run), StartAttempt):
        return _refuse(run, "no attempt is due that could be put off")
    until = max(event.until, event.at + LEAST_PAUSE)
    return Decision(_wait(run, Wait(event.reason, event.at, until, whom=f"agent:{event.account}")))


def _unaffordable(run: Run, event: BudgetSpent) -> Decision:
    if not isinstance(due(run), StartAttempt):
        return _refuse(run, "no attempt is due that could cost anything")
    return Decision(_end(run, ItemStatus.FAILED, event.reason))


def _released(run: Run, event: Released, pipeline: Pipeline) -> Decision:
    if run.phase is not Phase.WAITING:
        return _refuse(run, f"the run is {run.phase}, it waits for nobody")
    if run.wait and run.wait.is_handed_over:
        return _refuse(run, f"attempt {run.attempt} is {run.wait.reason}")
    review = run.wait.review if run.wait else None
    if event.accepted and review is None:
        return _refuse(run, "nobody has to look at its change")
    if event.accepted and review and event.accepted != review:
        return _refuse(run, f"its work is {review[:12]} now, not {event.accepted[:12]}")
    evidence = _add_word(run.evidence, f"{event.by} says: {event.note}") if event.note else run.evidence
    stage = pipeline.stages.get(run.stage)
    if event.note and stage is not None and not stage.is_agent:
        # No agent hears it now: the next one does.
        run = _note(run, event)
    return Decision(replace(_requeue(run), evidence=evidence, accepted=event.accepted or run.accepted))


def _handed_over(run: Run, event: AttemptHandedOver) -> Decision:
    if not run.has_attempt or event.number != run.attempt:
        return _refuse(run, f"attempt {event.number} is not the current one")
    since = run.wait.since if run.wait else event.at
    return Decision(_wait(run, Wait(event.reason, since, whom=event.whom, is_handed_over=True)))


def _ended(run: Run, event: AttemptEnded, pipeline: Pipeline) -> Decision:
    if not run.has_attempt or event.number != run.attempt:
        return _refuse(run, f"attempt {event.number} is not the current one")
    result, stop = event.result, run.stop
    stage = pipeline.stages.get(run.stage)
    if stage is not None and stage.integrates and result.outcome is Outcome.COMPLETED:
        run = replace(run, integrated=run.head)
    run = replace(run, head=result.commit or run.head, session=result.session or run.session, stop="")
    if stage is None:
        return Decision(_end(run, ItemStatus.FAILED, f"pipeline {pipeline.name} has no stage {run.stage} any more"))
    if stop and result.outcome is not Outcome.COMPLETED:
        return Decision(_wait(run, Wait(stop, event.at, whom=PERSON)))
    if result.is_deliberate and result.outcome is not Outcome.CANCELLED:
        return Decision(_requeue(run))
    follow = _send_back if result.outcome in stage.routes else _ROUTES[result.outcome]
    return Decision(follow(run, stage, result, event.at))


def _advance(run: Run, stage: Stage, result: AttemptResult, _at: datetime) -> Run:
    onward = stage.branches.get(result.branch, stage.next)
    if onward == END:
        return replace(_end(run, ItemStatus.DONE, ""), evidence=None)
    return _enter(run, onward)


def _send_back(run: Run, stage: Stage, result: AttemptResult, _at: datetime) -> Run:
    """Along the route for this outcome, within its limit; the same failure twice is not worth another try."""
    fingerprint = result.evidence.fingerprint if result.evidence else ""
    run = replace(run, evidence=result.evidence, rejected=run.head)
    route = stage.routes.get(result.outcome)
    taken = run.rounds.get(route.to, 0) if route else 0
    is_same = bool(fingerprint) and fingerprint == run.fingerprint
    if route is None or is_same or taken >= route.limit:
        return _end_or_go_on(run, route, result, "the same failure twice: " if is_same else "", taken)
    rounds = {**run.rounds, route.to: taken + 1}
    return replace(_enter(run, route.to), rounds=rounds, evidence=result.evidence, fingerprint=fingerprint)


def _end_or_go_on(run: Run, route: Route | None, result: AttemptResult, same: str, taken: int) -> Run:
    """What follows when a route is not taken any more."""
    if route is not None and route.then != END:
        return _enter(run, route.then)
    what = "checks failed" if result.outcome is Outcome.REJECTED else str(result.outcome)
    after = f" after {taken} tries to mend it" if taken and not same else ""
    return _end(run, ItemStatus.FAILED, f"{what}{after}: {same}{result.reason}")


def _try_again(run: Run, stage: Stage, result: AttemptResult, _at: datetime) -> Run:
    tries = run.tries + 1
    evidence = result.evidence or (run.evidence if _is_proof(run.evidence) else Evidence(summary=result.reason))
    if tries >= stage.attempts:
        return _end(replace(run, evidence=evidence), ItemStatus.FAILED, f"{result.outcome}: {result.reason}")
    # A conversation that crashed or hung is not trusted again; one that merely stopped early is continued.
    session = run.session if result.outcome in {Outcome.NO_PROGRESS, Outcome.OVER_BUDGET} else None
    return replace(_requeue(run), tries=tries, evidence=evidence, session=session, outages=0, interruptions=0)


def _back_off(run: Run, _stage: Stage, result: AttemptResult, at: datetime) -> Run:
    if run.outages >= len(BACKOFF):
        return _end(run, ItemStatus.FAILED, f"unavailable {run.outages + 1} times in a row: {result.reason}")
    pause = BACKOFF[run.outages] * (1 + JITTER * _jitter(run))
    until = max(at + pause, result.retry_at or at)
    waiting = _wait(run, Wait(result.reason or "the agent's service is unavailable", at, until))
    return replace(waiting, outages=run.outages + 1)


def _wait_for_person(run: Run, _stage: Stage, result: AttemptResult, at: datetime) -> Run:
    review = result.commit if result.is_review else None
    return _wait(run, Wait(result.reason or "the agent has a question", at, whom=result.whom or PERSON, review=review))


def _go_on(run: Run, _stage: Stage, result: AttemptResult, _at: datetime) -> Run:
    """Somebody has done a part, which is no failure: the rest is the next attempt's."""
    return replace(_requeue(run), evidence=_add_word(run.evidence, result.reason), outages=0, interruptions=0)


def _give_up(run: Run, _stage: Stage, result: AttemptResult, _at: datetime) -> Run:
    return _end(replace(run, evidence=result.evidence or run.evidence), ItemStatus.FAILED, f"given up: {result.reason}")


def _hold(run: Run, _stage: Stage, _result: AttemptResult, _at: datetime) -> Run:
    """Nothing is held against the run: it goes on where it was when the account or the plan does."""
    return _requeue(run)


def _cancelled(run: Run, _stage: Stage, result: AttemptResult, _at: datetime) -> Run:
    return _end(run, ItemStatus.SKIPPED, result.reason or "cancelled")


def _interrupted(run: Run, _stage: Stage, result: AttemptResult, _at: datetime) -> Run:
    if run.interruptions >= MAX_INTERRUPTIONS:
        return _end(run, ItemStatus.FAILED, f"interrupted {run.interruptions + 1} times in a row: {result.reason}")
    return replace(_requeue(run), interruptions=run.interruptions + 1)


def _add_word(evidence: Evidence | None, said: str) -> Evidence:
    """What the next attempt is to know: a person's word, beside the proof if there is one."""
    if _is_proof(evidence):
        return replace(evidence, hints=(said, *evidence.hints), word=said)
    return Evidence(summary=said, word=said)


def _is_proof(evidence: Evidence | None) -> TypeGuard[Evidence]:
    """Whether it says what a check or a merge found, which the next agent needs whatever became of the last one."""
    return evidence is not None and bool(evidence.command or evidence.output or evidence.paths or evidence.fingerprint)


def _jitter(run: Run) -> float:
    return zlib.crc32(f"{run.id}:{run.attempt}".encode()) / 0xFFFFFFFF


def _enter(run: Run, stage: str) -> Run:
    return replace(_requeue(run), stage=stage, tries=0, outages=0, interruptions=0, evidence=None)


def _requeue(run: Run) -> Run:
    return replace(run, phase=Phase.QUEUED, wait=None, not_before=None)


def _wait(run: Run, wait: Wait) -> Run:
    return replace(run, phase=Phase.WAITING, wait=wait, not_before=wait.until)


def _end(run: Run, status: ItemStatus, reason: str) -> Run:
    commit = run.head if status is ItemStatus.DONE else None
    ending = Ending(status, reason, commit, run.evidence if status is ItemStatus.FAILED else None)
    return replace(run, phase=Phase.ENDED, wait=None, not_before=None, ending=ending)


_ROUTES: Mapping[Outcome, Callable[[Run, Stage, AttemptResult, datetime], Run]] = {
    Outcome.COMPLETED: _advance,
    Outcome.REJECTED: _send_back,
    Outcome.CONFLICT: _send_back,
    Outcome.NO_PROGRESS: _try_again,
    Outcome.CRASHED: _try_again,
    Outcome.STALLED: _try_again,
    Outcome.TIMED_OUT: _try_again,
    Outcome.UNAVAILABLE: _back_off,
    Outcome.LIMITED: _hold,
    Outcome.ASKED: _wait_for_person,
    Outcome.BLOCKED: _wait_for_person,
    Outcome.PARTIAL: _go_on,
    Outcome.GIVEN_UP: _give_up,
    Outcome.INTERRUPTED: _interrupted,
    Outcome.OVER_BUDGET: _try_again,
    Outcome.AUTH_FAILED: _hold,
    Outcome.CANCELLED: _cancelled,
}
"""What each outcome does to a run; a test holds it complete."""
