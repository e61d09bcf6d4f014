"""The integrate stage: one commit on the target's head, checked as it will be, moved there by compare-and-swap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.application.verify_change import check_commit, find_objections, halted
from whilly.domain.attempt import AttemptResult, Evidence, Outcome
from whilly.domain.change import Conflicted
from whilly.domain.errors import RuleViolation
from whilly.domain.flow.brief import Halt
from whilly.domain.trust.policy import Consequence, render_objections

if TYPE_CHECKING:
    from decimal import Decimal

    from whilly.application.attempt_context import AttemptContext
    from whilly.domain.change import Combined
    from whilly.domain.flow.brief import Brief
    from whilly.domain.ids import CommitId

MAX_RACES = 20
"""How often the target may move away under us before something is plainly wrong."""


async def integrate_change(brief: Brief, context: AttemptContext) -> AttemptResult:
    """Completed when the target holds the change; safe to ask for again after a crash at any point."""
    for _ in range(MAX_RACES):
        target = await context.ports.repository.find_commit(f"refs/heads/{brief.target}")
        if target is None or brief.run.head is None:
            return AttemptResult(Outcome.CRASHED, f"branch {brief.target} or the run's commit is gone")
        if await _is_there(brief, context, target):
            return AttemptResult(Outcome.COMPLETED, commit=brief.candidate)
        combined = await context.ports.repository.combine(
            brief.run.head, brief.run.integrated or brief.base, target, commit_message(brief)
        )
        if isinstance(combined, Conflicted):
            return _conflict(brief, combined)
        result = await _move(brief, context, combined, target)
        if result is not None:
            return result
    return AttemptResult(Outcome.CRASHED, f"branch {brief.target} moved {MAX_RACES} times while this was integrated")


async def _ask_person(brief: Brief, context: AttemptContext) -> AttemptResult | None:
    """The wait for a person who has to look at the change before it goes anywhere; None when nobody has to."""
    commit = brief.run.head or brief.base
    if brief.run.accepted == commit:
        return None
    found = await find_objections(brief, context, commit, Consequence.REVIEW)
    if not found:
        return None
    how = f"look at it (git show {commit[:12]}), then `whilly accept {brief.item.id} {commit[:12]}`"
    reason = f"a person has to look at {render_objections(found)}; {how}"
    return AttemptResult(Outcome.ASKED, reason, commit=commit, is_review=True)


async def _is_there(brief: Brief, context: AttemptContext, target: CommitId) -> bool:
    return brief.candidate is not None and await context.ports.repository.is_ancestor(brief.candidate, target)


async def _move(brief: Brief, context: AttemptContext, combined: Combined, target: CommitId) -> AttemptResult | None:
    """Check and move; None when somebody else moved the target first."""
    if halt := context.line.halt():
        return halted(halt)
    failure = None if combined.is_same_tree else await check_commit(brief, context, combined.commit)
    if isinstance(failure, Halt):
        return halted(failure)
    if failure is not None:
        summary = f"on top of {brief.target}: {failure.summary}"
        return AttemptResult(Outcome.REJECTED, summary, evidence=failure)
    if combined.is_empty:
        return AttemptResult(Outcome.COMPLETED, f"{brief.target} has the whole change already", commit=target)
    return await _advance(brief, context, combined.commit, target)


async def _advance(brief: Brief, context: AttemptContext, new: CommitId, old: CommitId) -> AttemptResult | None:
    if asked := await _ask_person(brief, context):
        return asked
    if not await context.line.keep_candidate(new):
        return AttemptResult(Outcome.CANCELLED, "superseded before it was integrated")
    context.ports.checkpoint("advance:before")
    try:
        has_moved = await context.ports.repository.advance(brief.target, new, old)
    except RuleViolation as error:
        # No agent can mend this: the work waits until the branch may be moved again.
        return AttemptResult(Outcome.ASKED, str(error), commit=brief.run.head)
    context.ports.checkpoint("advance:after")
    return AttemptResult(Outcome.COMPLETED, commit=new) if has_moved else None


def _conflict(brief: Brief, conflict: Conflicted) -> AttemptResult:
    summary = f"conflicts with {brief.target} in {', '.join(conflict.paths)}"
    evidence = Evidence(summary, output=conflict.detail[:8000], paths=conflict.paths)
    return AttemptResult(Outcome.CONFLICT, summary, evidence=evidence)


def commit_message(brief: Brief) -> str:
    """Subject, the item's own words, and trailers that say where the commit comes from."""
    title = brief.item.title
    subject = title if title.startswith(brief.item.id) else f"{brief.item.id}: {title}"
    body = brief.item.description.replace("\0", "").strip()
    trailers = {
        "Whilly-Item": brief.item.id,
        "Whilly-Run": brief.run.id,
        "Whilly-Attempt": brief.attempt,
        "Whilly-Cost": _money(brief.spent_usd),
    }
    lines = "\n".join(f"{key}: {' '.join(value.split())}" for key, value in trailers.items())
    return f"{subject}\n\n{body}\n\n{lines}\n" if body != title else f"{subject}\n\n{lines}\n"


def _money(amount: Decimal) -> str:
    return f"${amount:.4f}"
