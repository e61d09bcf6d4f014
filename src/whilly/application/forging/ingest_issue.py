"""The stage `intake`: the issue as it is now, and whether somebody has done it already."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from whilly.application.forging.records import (
    find_earlier,
    find_fork,
    find_head,
    keep_fork,
    name_pull,
    take_over,
    take_over_parts,
)
from whilly.application.forging.wait_for_others import wait_for_others
from whilly.domain.attempt import AttemptResult, Outcome
from whilly.domain.errors import NotFound
from whilly.domain.forge.issue import IssueState
from whilly.domain.forge.pull_request import PullQuery, PullRef, PullState
from whilly.domain.intake.duplicates import find_duplicates
from whilly.domain.intake.issue_text import IssueText, Remark, read_issue
from whilly.domain.intake.normalize import normalize_issue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.application.attempt_context import AttemptContext
    from whilly.application.forging.desk import Desk
    from whilly.domain.flow.brief import Brief
    from whilly.domain.forge.issue import Issue
    from whilly.domain.forge.pull_request import PullRequest
    from whilly.domain.intake.duplicates import Duplicate
    from whilly.domain.intake.spec import IssueSpec

ISSUE = "issue"
DUPLICATES = "duplicates"
RECENT = timedelta(days=30)
"""How long ago something may have been merged to be what the issue wants."""


async def ingest_issue(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult:
    """Completed when there is an open issue that nobody has dealt with; it is kept as it was at this moment."""
    issue = await fetch_issue(brief, desk)
    if closed := refuse_closed(issue):
        return closed
    if (open_pull := await _find_open(brief, desk)) is not None:
        reason = f"{open_pull.url} is open, and gone on with"
        return AttemptResult(Outcome.NO_PROGRESS, reason, commit=open_pull.head_commit)
    if await find_fork(brief, desk) is None and not await take_over_parts(brief, desk):
        head = await context.ports.repository.find_commit(f"refs/heads/{brief.target}")
        if head is not None:
            await keep_fork(brief, desk, head)
    refused = await _refuse_duplicate(brief, context, desk, issue)
    spec = normalize_issue(read_issue(issue))
    return refused or await wait_for_others(spec.dependencies, desk) or AttemptResult(Outcome.COMPLETED)


def refuse_closed(issue: Issue) -> AttemptResult | None:
    """The end of the work on an issue that is closed; None while it is open."""
    if issue.state is not IssueState.CLOSED:
        return None
    return AttemptResult(Outcome.GIVEN_UP, f"issue {issue.ref.short} is closed ({issue.status})")


async def _find_open(brief: Brief, desk: Desk) -> PullRequest | None:
    """The pull request that an earlier run of the issue opened from this branch, if it is as that run left it."""
    earlier = await find_earlier(brief, desk)
    if earlier is None or earlier[1].get("branch") != brief.target:
        return None
    run, known = earlier
    ref = PullRef(desk.place, str(known["repository"]), int(known["number"]))
    pull = (await desk.forge.fetch_pull_request(ref)).pull
    if pull.state is not PullState.OPEN or pull.head_commit != known["head"]:
        return None
    await take_over(brief, desk, run)
    return pull


async def fetch_issue(brief: Brief, desk: Desk) -> Issue:
    """The issue as it is now; what is asked of it from now on is asked of this text."""
    issue = await desk.tracker.fetch_issue(desk.ref)
    await desk.artefacts.save(brief.run.id, ISSUE, render_issue(issue))
    return issue


async def load_spec(brief: Brief, desk: Desk) -> IssueSpec:
    """What the issue wants, as it was read last.

    Raises:
        NotFound: it was never read.
    """
    document = await desk.artefacts.load(brief.run.id, ISSUE)
    if document is None:
        message = f"what was read of {desk.ref.short} is gone"
        raise NotFound(message, remedy=f"whilly cancel {brief.item.id}, and begin anew")
    return normalize_issue(parse_issue(document))


async def find_digest(brief: Brief, desk: Desk) -> str:
    """The digest of the issue as it was read last; empty when it never was."""
    document = await desk.artefacts.load(brief.run.id, ISSUE) or {}
    return str(document.get("digest", ""))


async def find_edit(brief: Brief, desk: Desk) -> str:
    """What has changed about the issue since it was read last; empty when nothing has."""
    before = await find_digest(brief, desk)
    issue = await desk.tracker.fetch_issue(desk.ref)
    if issue.state is IssueState.CLOSED and await find_head(brief, desk) is None:
        return f"issue {desk.ref.short} was closed at {issue.updated_at:%Y-%m-%d %H:%M} while it was worked on"
    if before in {"", digest_issue(issue)}:
        return ""
    return f"issue {desk.ref.short} was changed at {issue.updated_at:%Y-%m-%d %H:%M} while it was worked on"


def render_issue(issue: Issue) -> Mapping[str, object]:
    """The issue as a document: what anybody wrote, as it came."""
    text = read_issue(issue)
    return {
        "version": 1,
        "ref": issue.ref.key,
        "key": text.key,
        "url": text.url,
        "title": text.title,
        "body": text.body,
        "author": issue.author.login,
        "may_write": issue.permission.can_write,
        "labels": list(text.labels),
        "status": issue.status,
        "priority": text.priority,
        "updated_at": issue.updated_at.isoformat(),
        "comments": [_render_remark(each) for each in text.comments if not each.is_own],
        "digest": digest_issue(issue),
    }


def parse_issue(document: Mapping[str, Any]) -> IssueText:
    """The inverse of `render_issue`, as far as the text goes."""
    remarks = [
        Remark(each["author"], each["may_write"], each["text"], datetime.fromisoformat(each["created_at"]))
        for each in document["comments"]
    ]
    return IssueText(
        key=document["key"],
        title=document["title"],
        body=document["body"],
        labels=tuple(document["labels"]),
        comments=tuple(remarks),
        url=document["url"],
        priority=document["priority"],
        is_trusted=document["may_write"],
    )


def digest_issue(issue: Issue) -> str:
    """The same as long as the issue asks for the same: its title, its text, and what people say who may write."""
    said = [comment.text for comment in issue.comments if comment.permission.can_write and not comment.key]
    asked = json.dumps([issue.title, issue.body, said])
    return hashlib.sha256(asked.encode()).hexdigest()


def _render_remark(remark: Remark) -> Mapping[str, object]:
    return {
        "author": remark.author,
        "may_write": remark.has_write,
        "text": remark.text,
        "created_at": remark.created_at.isoformat(),
    }


async def _refuse_duplicate(brief: Brief, context: AttemptContext, desk: Desk, issue: Issue) -> AttemptResult | None:
    """Wait for a person when a pull request does the same; who lets the run go on afterwards has decided."""
    since = context.ports.clock.now() - RECENT
    pulls = [
        *await desk.forge.find_pull_requests(PullQuery(desk.repository)),
        *await desk.forge.find_pull_requests(PullQuery(desk.repository, PullState.MERGED, updated_since=since)),
    ]
    # One of our own that this ledger knows nothing of is somebody else's: of another clone, or of an earlier ledger.
    is_known = await find_earlier(brief, desk) is not None or await find_head(brief, desk) is not None
    own = name_pull(brief, desk) if is_known else ""
    found = find_duplicates(issue, pulls, own=own, merged_since=since)
    certain = [each.pull.ref.number for each in found if each.is_certain]
    known = await desk.artefacts.load(brief.run.id, DUPLICATES) or {}
    await desk.artefacts.save(brief.run.id, DUPLICATES, _render_duplicates(found))
    if set(certain) <= set(known.get("certain", ())):  # type: ignore[call-overload]  # our own document
        return None
    reason = f"{found[0].reasons[0]} → to work on it all the same, whilly forge {desk.ref.short} once more"
    return AttemptResult(Outcome.BLOCKED, reason)


def _render_duplicates(found: list[Duplicate]) -> Mapping[str, object]:
    pulls = [{"url": each.pull.url, "score": each.score, "reasons": list(each.reasons)} for each in found]
    return {"version": 1, "certain": [each.pull.ref.number for each in found if each.is_certain], "pulls": pulls}
