"""The stage `publish`: the branch is pushed, there is one pull request of it, and who asked for changes is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.application.forging.ingest_issue import find_edit
from whilly.application.forging.publishing.compose_pull_request import compose_pull_request, list_reasons
from whilly.application.forging.records import find_head, find_offer, find_waiting, keep_pull, mark_answered
from whilly.domain.attempt import AttemptResult, Evidence, Outcome
from whilly.domain.delivery.draft import offer_again, offer_first
from whilly.domain.forge.pull_request import PullChange, PullQuery

if TYPE_CHECKING:
    from whilly.application.attempt_context import AttemptContext
    from whilly.application.forging.desk import Desk
    from whilly.domain.delivery.draft import Offer
    from whilly.domain.flow.brief import Brief
    from whilly.domain.forge.pull_request import PullRequest
    from whilly.domain.ids import CommitId


async def publish_change(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult:
    """Completed when the forge has the branch and its pull request; safe to ask for again after a crash anywhere."""
    commit = await context.ports.repository.find_commit(f"refs/heads/{brief.target}")
    if commit is None:
        return AttemptResult(Outcome.CRASHED, f"branch {brief.target} is gone")
    if edited := await find_edit(brief, desk):
        return AttemptResult(Outcome.REJECTED, edited, commit=brief.run.head, evidence=Evidence(edited))
    if not await _push(brief, context, desk, commit):
        return AttemptResult(Outcome.ASKED, await _tell_foreign(brief, desk), commit=brief.run.head)
    pull, offer = await _open(brief, context, desk, commit)
    await keep_pull(brief, desk, pull, commit, offer)
    await _answer(brief, context, desk, pull, commit)
    return AttemptResult(Outcome.COMPLETED, f"{pull.url}, {desk.calls()} API calls", commit=brief.run.head)


async def _tell_foreign(brief: Brief, desk: Desk) -> str:
    """Whose the branch at the forge is, and how to go on without losing anything of it."""
    branch = brief.target
    pulls = await desk.forge.find_pull_requests(PullQuery(desk.repository, head=branch))
    whose = f" of {pulls[0].url}" if pulls else ""
    reason = f"{branch} at {desk.repository} holds commits{whose} that this clone has not pushed; they are left alone"
    theirs = await desk.remote.fetch(branch)
    both = f"git switch {branch} && git merge {theirs[:12]} && git switch -, then whilly retry {brief.item.id}"
    return f"{reason}; go on in the clone that they are from, or keep both: {both}"


async def _push(brief: Brief, context: AttemptContext, desk: Desk, commit: CommitId) -> bool:
    # What ours contains is lost in no case: also what people have merged into it.
    expected = await _find_own(brief, context, desk, commit) or await find_head(brief, desk)
    context.ports.checkpoint("push:before")
    is_there = await desk.remote.push(brief.target, commit, expected)
    context.ports.checkpoint("push:after")
    return is_there


async def _find_own(brief: Brief, context: AttemptContext, desk: Desk, commit: CommitId) -> CommitId | None:
    """What the branch is at, when that is something that ours contains; None when there is none, or it is not ours."""
    head = await desk.remote.find_head(brief.target)
    if head is None or await context.ports.repository.find_commit(head) is None:
        return None
    return head if await context.ports.repository.is_ancestor(head, commit) else None


async def _open(brief: Brief, context: AttemptContext, desk: Desk, commit: CommitId) -> tuple[PullRequest, Offer]:
    before, rule = await find_offer(brief, desk), desk.rules.is_draft
    reasons = await list_reasons(brief, context, desk)
    offer = offer_first(reasons, rule)
    draft = await compose_pull_request(brief, context, desk, commit, offer)
    context.ports.checkpoint("publish:before")
    pull = await desk.forge.open_pull_request(draft)
    context.ports.checkpoint("publish:after")
    if before is not None:
        offer = offer_again(before, reasons, rule, is_draft=pull.is_draft)
        draft = await compose_pull_request(brief, context, desk, commit, offer)
    # Without an offer before it is as it could be opened: not every forge has drafts.
    is_other = before is not None and pull.is_draft is not offer.is_draft
    if is_other or (pull.title, pull.body) != (draft.title, draft.body):
        change = PullChange(title=draft.title, body=draft.body, is_draft=offer.is_draft if is_other else None)
        pull = await desk.forge.change_pull_request(pull.ref, change)
    return pull, offer


async def _answer(brief: Brief, context: AttemptContext, desk: Desk, pull: PullRequest, commit: CommitId) -> None:
    """Say in every thread that asked for something where it was done, once."""
    for request, thread in await find_waiting(brief, desk):
        context.ports.checkpoint("answer:before")
        await desk.forge.answer(pull.ref, thread, f"{brief.run.id}/{request}", f"Changed in {commit}.")
        context.ports.checkpoint("answer:after")
        await mark_answered(brief, desk, request)
