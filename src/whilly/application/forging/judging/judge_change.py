"""The stage `verify`: an issue's change is checked, has to show what it does, and a verdict is given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from whilly.application.forging.ingest_issue import load_spec
from whilly.application.forging.judging.prove_change import NO_COMMAND, Change, Sight, prove_change
from whilly.application.forging.records import find_fork
from whilly.application.forging.rounds import keep_round, load_earlier
from whilly.application.forging.work_on_issue import tell_issue
from whilly.application.verify_change import commands_for, find_refusal, halted, run_commands
from whilly.domain.attempt import AttemptResult, Evidence, Outcome
from whilly.domain.delivery.proof import Demand, Missing, ask_for, list_missing, tell_seen
from whilly.domain.delivery.pull_request_text import Checked
from whilly.domain.delivery.round import Round, judge_round
from whilly.domain.failure.verdict import Bounds, Failure, FailureKind, Verdict, classify_failure
from whilly.domain.flow.brief import Halt
from whilly.domain.flow.lifecycle import PERSON
from whilly.domain.intake.strategy import choose_strategy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whilly.application.attempt_context import AttemptContext
    from whilly.application.forging.desk import Desk
    from whilly.domain.change import CheckReport
    from whilly.domain.flow.brief import Brief
    from whilly.domain.intake.strategy import Approach


@dataclass(frozen=True, slots=True)
class _Look:
    """What was found of a change.

    Attributes:
        evidence: of the failure.
        sight: of the proofs; None when they were not looked for.
        missing: proofs that it does not give.
    """

    failures: tuple[Failure, ...] = ()
    evidence: Evidence | None = None
    checks: tuple[Checked, ...] = ()
    sight: Sight | None = None
    missing: tuple[Missing, ...] = ()


async def judge_change(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult:
    """Completed when the change is to be shown: everything has passed, or no repair is worth it and it has some value.

    Rejected with what the agent is to mend or to bring; blocked when nothing is worth showing and a person is needed.
    """
    commit = brief.run.head
    if commit is None:
        return AttemptResult(Outcome.REJECTED, "there is no commit to verify", evidence=Evidence("no commit"))
    told, approach = await tell_issue(brief, context, desk), choose_strategy(await load_spec(brief, desk)).approach
    base = await find_fork(brief, desk) or brief.base
    extents = await desk.trees.measure(base, commit)
    change = Change(told, context, desk.trees, base, commit, extents, f"{desk.base} ({base[:12]})")
    look = await _look(change, approach, desk.rules.proofs)
    if isinstance(look, Halt):
        return halted(look)
    lines = sum(each.added + each.removed for each in extents)
    askable, rounds = _list_askable(look.missing, desk.rules.proofs), await load_earlier(brief, desk)
    bounds = Bounds(approach.max_repairs, approach.max_lines, is_told=brief.run.evidence is not None)
    ruling, failures = judge_round(look.failures, askable, rounds, bounds, lines)
    seen = tell_seen(approach, look.sight.seen, look.missing) if look.sight else ()
    made = Round(brief.attempt, commit, ruling, failures, seen, look.missing, look.checks, lines, base)
    context.ports.checkpoint("judge:before")
    await keep_round(brief, desk, made)
    context.ports.checkpoint("judge:after")
    return _conclude(brief, made, look.evidence or _ask(change, look, failures))


def _list_askable(missing: Sequence[Missing], demand: Demand) -> tuple[Missing, ...]:
    """What the agent can bring; where nothing runs tests, none of its tests would show anything."""
    return tuple(each for each in missing if demand is Demand.ASK and each.why != NO_COMMAND)


async def _look(change: Change, approach: Approach, demand: Demand) -> _Look | Halt:
    if not change.extents:
        return _Look((Failure(FailureKind.NOTHING_CHANGED, f"it changes nothing of {change.place}", "nothing"),))
    refusal = await find_refusal(change.told, change.context, change.head)
    if refusal is not None:
        failure = Failure(FailureKind.PATH_REFUSED, refusal.summary, refusal.fingerprint)
        return _Look((failure,), refusal)
    commands = commands_for(change.told, change.context.rules.profile)
    report = await run_commands(change.told, change.context, change.head, commands)
    if isinstance(report, Halt):
        return report
    checks = _tell_checks([each.run for each in commands], report)
    if report.failure is not None:
        found = report.failure
        failure = Failure(classify_failure(found), found.summary, found.fingerprint)
        return _Look((failure,), found, checks)
    return _Look(checks=checks) if demand is Demand.OFF else await _look_for_proofs(change, approach, checks)


async def _look_for_proofs(change: Change, approach: Approach, checks: tuple[Checked, ...]) -> _Look | Halt:
    sight = await prove_change(change, approach)
    if isinstance(sight, Halt):
        return sight
    return _Look(checks=checks, sight=sight, missing=list_missing(approach, sight.seen))


def _ask(change: Change, look: _Look, failures: Sequence[Failure]) -> Evidence | None:
    """What the agent is told when proofs are asked for."""
    wanted = [each for each in look.missing if each.failure in failures]
    return ask_for(wanted, look.sight.seen, change.base, look.sight.failure) if look.sight and wanted else None


def _tell_checks(commands: Sequence[str], report: CheckReport) -> tuple[Checked, ...]:
    count, failure = len(report.passed), report.failure
    passed = [Checked(run, has_passed=True) for run in commands[:count]]
    failed = [Checked(failure.command, has_passed=False, output=failure.output)] if failure else []
    return (*passed, *failed, *(Checked(run, has_passed=None) for run in commands[count + 1 :]))


def _conclude(brief: Brief, made: Round, evidence: Evidence | None) -> AttemptResult:
    commit, ruling = made.commit, made.ruling
    if ruling.verdict is Verdict.PASS:
        shown = ", ".join(proof for proof, _ in made.seen)
        return AttemptResult(Outcome.COMPLETED, f"shown: {shown}" if shown else "", commit=commit)
    if ruling.verdict is Verdict.REPAIR:
        told = _add_word(brief, evidence or Evidence(ruling.reason))
        return AttemptResult(Outcome.REJECTED, told.summary, commit=commit, evidence=told)
    if ruling.has_value:
        reason = f"what there is becomes a draft: {ruling.reason}"
        return AttemptResult(Outcome.COMPLETED, reason, commit=commit, is_escalated=True)
    how = f'then `whilly retry {brief.item.id} --note "…"` says what to do, and whilly forge goes on with it'
    reason = f"{ruling.reason}; its work is {commit[:12]}; {how}"
    return AttemptResult(Outcome.BLOCKED, reason, commit=commit, evidence=evidence, whom=PERSON, is_escalated=True)


def _add_word(brief: Brief, evidence: Evidence) -> Evidence:
    """The evidence, with what a person has said since.

    Its fingerprint is that of this attempt alone: the verdict has compared the failure with earlier ones already.
    """
    said = (brief.run.evidence.word,) if brief.run.evidence and brief.run.evidence.word else ()
    return replace(evidence, hints=(*said, *evidence.hints), fingerprint=f"{brief.attempt} {evidence.fingerprint}")
