"""The stage `feedback`: an open pull request is looked after until it is merged or closed."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from whilly.application.forging.desk import Look
from whilly.application.forging.ingest_issue import find_edit
from whilly.application.forging.records import (
    find_answered,
    find_fork,
    find_head,
    find_offer,
    find_pull,
    keep_open_requests,
)
from whilly.application.forging.rounds import find_known_failure
from whilly.domain.attempt import AttemptResult, Evidence, Outcome
from whilly.domain.change import Conflicted
from whilly.domain.errors import PortError
from whilly.domain.failure import read_failure
from whilly.domain.flow.brief import HandedOver
from whilly.domain.flow.run import REVIEWERS
from whilly.domain.forge.feedback import find_failed, find_requests, is_approved
from whilly.domain.forge.pull_request import CheckState, Merged, Obstacle, PullState
from whilly.domain.text.clean import clean_foreign

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whilly.application.attempt_context import AttemptContext
    from whilly.application.forging.desk import Desk
    from whilly.domain.flow.brief import Brief
    from whilly.domain.forge.feedback import Request
    from whilly.domain.forge.pull_request import Check, PullStatus


async def look_after(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult | HandedOver:
    """Look at the pull request once, and say what has to be done about it.

    Completed when it is merged. Rejected when its checks are red, asked when people want changes, a conflict when it
    does not merge any more; each with what the next attempt needs. Otherwise it waits for people.
    """
    if halt := context.line.halt():
        return AttemptResult(halt.outcome, halt.reason, is_deliberate=True)
    last, now = desk.looks.pop(brief.run.id, None), context.ports.clock.monotonic()
    if last is not None and now - last.at < (desk.rules.look_every or 0):
        desk.looks[brief.run.id] = last
        return last.found
    found = await _look(brief, context, desk)
    if isinstance(found, HandedOver):
        desk.looks[brief.run.id] = Look(now, found)
    return found


async def _look(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult | HandedOver:
    ref = await find_pull(brief, desk)
    status = await desk.forge.fetch_pull_request(ref)
    pull = status.pull
    if pull.state is PullState.MERGED:
        return AttemptResult(Outcome.COMPLETED, f"{pull.url} is merged", commit=brief.run.head)
    if pull.state is PullState.CLOSED:
        return AttemptResult(Outcome.GIVEN_UP, f"{pull.url} was closed without being merged", commit=brief.run.head)
    if pull.head_commit != await find_head(brief, desk):
        reason = f"somebody else has pushed to {pull.head_branch}, and Whilly leaves the branch to them"
        return AttemptResult(Outcome.BLOCKED, reason, commit=brief.run.head, whom=REVIEWERS)
    known = await find_known_failure(brief, desk)
    work = _find_word(brief) or await _find_move(brief, context, desk, status)
    work = work or await _find_work(brief, desk, status, known)
    return work or await _wait(brief, desk, status, known)


def _find_word(brief: Brief) -> AttemptResult | None:
    """What somebody has said who let the run go on: they want something to be different about the change."""
    said = brief.run.evidence.word if brief.run.evidence else ""
    if not said:
        return None
    evidence = Evidence("a person asked for changes", output=said, fingerprint=f"word:{brief.attempt}")
    return AttemptResult(Outcome.ASKED, said[:500], commit=brief.run.head, evidence=evidence)


async def _find_move(brief: Brief, context: AttemptContext, desk: Desk, status: PullStatus) -> AttemptResult | None:
    """The base branch has moved: the change is put on top of it and checked there, always or where it does not fit."""
    base, fork = await desk.remote.fetch(desk.base), await find_fork(brief, desk)
    if base == fork or fork is None:
        return None
    reason = f"{desk.base} has moved to {base[:12]}"
    repository, head = context.ports.repository, status.pull.head_commit
    if not desk.rules.follows_base and not isinstance(await repository.combine(head, fork, base, reason), Conflicted):
        return None
    return AttemptResult(Outcome.CONFLICT, reason, commit=brief.run.head, evidence=Evidence(reason))


async def _find_work(brief: Brief, desk: Desk, status: PullStatus, known: str) -> AttemptResult | None:
    """What people or CI ask for; what is known to fail is mended only when people ask for it."""
    own = await desk.neighbour.fetch_account()
    requests = find_requests(status, own, await find_answered(brief, desk))
    if requests:
        await keep_open_requests(brief, desk, requests)
        evidence = _describe_requests(requests)
        return AttemptResult(Outcome.ASKED, evidence.summary, commit=brief.run.head, evidence=evidence)
    if (failed := find_failed(status)) and not known:
        evidence = await _describe_failure(desk, status, failed)
        return AttemptResult(Outcome.REJECTED, evidence.summary, commit=brief.run.head, evidence=evidence)
    return None


async def _describe_failure(desk: Desk, status: PullStatus, failed: Sequence[Check]) -> Evidence:
    """The first check that failed, with its real log; the others by name."""
    check = failed[0]
    evidence = read_failure(check.name, 1, await desk.forge.fetch_log(status.pull.ref, check))
    names = ", ".join(each.name for each in failed[:5])
    told = f": {evidence.hints[0]}" if evidence.hints else ""
    # The name of a check is no command that anybody could run.
    return replace(evidence, summary=f"CI is red: {names}{told}"[:500], command="", exit_code=None)


def _describe_requests(requests: Sequence[Request]) -> Evidence:
    names = ", ".join(dict.fromkeys(each.author for each in requests))
    told = [f"{each.author}{_at(each)}:\n{clean_foreign(each.text, 4000, 100).text}" for each in requests]
    ids = " ".join(sorted(each.id for each in requests))
    return Evidence(
        summary=f"{names} asked for changes",
        output="\n\n".join(told)[:8000],
        fingerprint=f"requests:{hashlib.sha256(ids.encode()).hexdigest()[:24]}",
        paths=tuple(dict.fromkeys(each.path for each in requests if each.path)),
    )


def _at(request: Request) -> str:
    line = f", line {request.line}" if request.line else ""
    return f" (at {request.path}{line})" if request.path else ""


async def _wait(brief: Brief, desk: Desk, status: PullStatus, known: str) -> AttemptResult | HandedOver:
    pull, rules = status.pull, desk.rules
    said = f"it does not pass, as is known ({known}); it waits for reviewers" if known else _say(status)
    offer = await find_offer(brief, desk)
    is_offered = not pull.is_draft and not (offer and offer.contradicts_itself)
    if rules.merges_itself and said == READY and is_offered:
        merged = await _merge(brief, desk, status)
        if isinstance(merged, AttemptResult):
            return merged
        said = merged or said
    reason = f"{pull.url} is open; {said}{await _tell_edit(brief, desk)}"
    if rules.look_every is not None:
        return HandedOver(REVIEWERS, reason)
    return AttemptResult(Outcome.BLOCKED, reason, commit=brief.run.head, whom=REVIEWERS)


async def _tell_edit(brief: Brief, desk: Desk) -> str:
    """That the issue was edited since, and how what is new in it reaches the work; empty when it was not."""
    try:
        edited = await find_edit(brief, desk)
        name = (await desk.neighbour.fetch_account()).login if edited else ""
    except PortError:
        # The pull request is looked after all the same.
        return ""
    how = f"say what is new in a comment of the pull request that addresses @{name}, or close it and begin anew"
    return f"; {edited} → {how}" if edited else ""


async def _merge(brief: Brief, desk: Desk, status: PullStatus) -> AttemptResult | str:
    """Merge what is approved; why it is not merged, empty when nobody has approved it yet."""
    if not is_approved(status, await desk.neighbour.fetch_account()):
        return ""
    merged = await desk.forge.merge(status.pull.ref, status.pull.head_commit, desk.rules.method)
    if isinstance(merged, Merged):
        return AttemptResult(Outcome.COMPLETED, f"{status.pull.url} is merged", commit=brief.run.head)
    if merged.obstacle is Obstacle.CONFLICT:
        evidence = Evidence(merged.detail)
        return AttemptResult(Outcome.CONFLICT, merged.detail, commit=brief.run.head, evidence=evidence)
    return f"it could not be merged: {merged.obstacle} {merged.detail}".rstrip()


READY = "its checks pass; it waits for people"


def _say(status: PullStatus) -> str:
    pending = [check.name for check in status.checks if check.state is CheckState.PENDING]
    if pending:
        return f"{', '.join(pending[:5])} not finished yet"
    return READY if status.checks else "nothing checks it there; it waits for people"
