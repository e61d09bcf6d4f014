"""The stage `rebase`: the issue's branch is put on top of what the base branch is now, as one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.application.forging.records import find_fork, keep_fork
from whilly.application.forging.rounds import find_known_failure, keep_round
from whilly.application.forging.work_on_issue import tell_issue
from whilly.application.integrate_change import commit_message
from whilly.application.verify_change import check_commit, halted
from whilly.domain.attempt import AttemptResult, Evidence, Outcome
from whilly.domain.change import Conflicted
from whilly.domain.delivery.round import Round
from whilly.domain.failure.verdict import Failure, Ruling, Verdict, classify_failure
from whilly.domain.flow.brief import Halt

if TYPE_CHECKING:
    from whilly.application.attempt_context import AttemptContext
    from whilly.application.forging.desk import Desk
    from whilly.domain.flow.brief import Brief
    from whilly.domain.ids import CommitId


async def rebase_branch(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult:
    """Completed when the local branch holds the change on top of the base's head, checked as it is there.

    Where it does not pass there, the local branch holds it all the same, so that it can be mended where it fails. Where
    that conflicts, the local branch begins anew at the base's head, and the whole change is to be put there.
    """
    repository = context.ports.repository
    base, current = await desk.remote.fetch(desk.base), await repository.find_commit(f"refs/heads/{brief.target}")
    fork = await find_fork(brief, desk)
    if current is None or fork is None:
        return AttemptResult(Outcome.CRASHED, f"branch {brief.target} is gone, or where it began is not known")
    commit = current
    # Killed behind the move, it is there already; whether it passes there is not known.
    if not await repository.is_ancestor(base, current):
        combined = await repository.combine(current, fork, base, commit_message(await tell_issue(brief, context, desk)))
        if isinstance(combined, Conflicted):
            await _move(brief, context, current, base)
            await keep_fork(brief, desk, base)
            return _conflict(brief, desk, combined)
        commit = combined.commit
    refused = await _check(brief, context, desk, commit)
    if refused is not None and refused.is_deliberate:
        return refused
    if commit != current:
        await _move(brief, context, current, commit)
    await keep_fork(brief, desk, base)
    return refused or AttemptResult(Outcome.COMPLETED, commit=commit)


def _conflict(brief: Brief, desk: Desk, conflict: Conflicted) -> AttemptResult:
    summary = f"conflicts with {desk.base} in {', '.join(conflict.paths)}"
    evidence = Evidence(summary, output=conflict.detail[:8000], paths=conflict.paths)
    return AttemptResult(Outcome.CONFLICT, summary, commit=brief.run.head, evidence=evidence)


async def _check(brief: Brief, context: AttemptContext, desk: Desk, commit: CommitId) -> AttemptResult | None:
    if await find_known_failure(brief, desk):
        return None
    failure = await check_commit(await tell_issue(brief, context, desk), context, commit)
    if isinstance(failure, Halt):
        return halted(failure)
    if failure is None:
        return None
    # The verdict counts what is mended from here on like any other repair.
    found = Failure(classify_failure(failure), failure.summary, failure.fingerprint)
    ruling = Ruling(Verdict.REPAIR, f"on top of {desk.base}: {failure.summary}")
    await keep_round(brief, desk, Round(brief.attempt, commit, ruling, (found,)))
    return AttemptResult(Outcome.REJECTED, ruling.reason, commit=commit, evidence=failure)


async def _move(brief: Brief, context: AttemptContext, old: CommitId, new: CommitId) -> None:
    context.ports.checkpoint("rebase:before")
    await context.ports.repository.advance(brief.target, new, old)
    context.ports.checkpoint("rebase:after")
