"""The stage `publish`: the branch is pushed, there is one pull request of it, and who asked for changes is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.application.forging.compose_pull_request import compose_pull_request
from whilly.application.forging.ingest_issue import find_edit
from whilly.application.forging.records import find_head, find_waiting, keep_pull, mark_answered
from whilly.domain.attempt import AttemptResult, Evidence, Outcome
from whilly.domain.forge.pull_request import PullChange

if TYPE_CHECKING:
    from whilly.application.attempt_context import AttemptContext
    from whilly.application.forging.desk import Desk
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
        reason = f"{brief.target} at {desk.repository} holds commits that Whilly has not pushed; they are left alone"
        how = f"merge or remove them there, then `whilly retry {brief.item.id}`"
        return AttemptResult(Outcome.ASKED, f"{reason}; {how}", commit=brief.run.head)
    pull = await _open(brief, context, desk)
    await keep_pull(brief, desk, pull, commit)
    await _answer(brief, context, desk, pull, commit)
    return AttemptResult(Outcome.COMPLETED, f"{pull.url}, {desk.calls()} API calls", commit=brief.run.head)


async def _push(brief: Brief, context: AttemptContext, desk: Desk, commit: CommitId) -> bool:
    expected = await find_head(brief, desk) or await _find_own(brief, context, desk, commit)
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


async def _open(brief: Brief, context: AttemptContext, desk: Desk) -> PullRequest:
    draft = await compose_pull_request(brief, context, desk)
    context.ports.checkpoint("publish:before")
    pull = await desk.forge.open_pull_request(draft)
    context.ports.checkpoint("publish:after")
    if (pull.title, pull.body) != (draft.title, draft.body):
        pull = await desk.forge.change_pull_request(pull.ref, PullChange(title=draft.title, body=draft.body))
    return pull


async def _answer(brief: Brief, context: AttemptContext, desk: Desk, pull: PullRequest, commit: CommitId) -> None:
    """Say in every thread that asked for something where it was done, once."""
    for request, thread in await find_waiting(brief, desk):
        context.ports.checkpoint("answer:before")
        await desk.forge.answer(pull.ref, thread, f"{brief.run.id}/{request}", f"Changed in {commit}.")
        context.ports.checkpoint("answer:after")
        await mark_answered(brief, desk, request)
