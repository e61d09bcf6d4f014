"""GitHub's JSON, read into values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.adapters.hub_payloads import read_person
from whilly.domain.forge.marker import read_mark, strip_mark
from whilly.domain.forge.pull_request import (
    Check,
    CheckState,
    Mergeable,
    Opinion,
    PullRef,
    PullRequest,
    PullState,
    Review,
    Thread,
)
from whilly.domain.ids import CommitId

if TYPE_CHECKING:
    from whilly.domain.forge.issue import Comment, Permission, Person
    from whilly.domain.forge.place import Place
    from whilly.transport.http.fields import Fields

_MERGEABLE = {True: Mergeable.YES, False: Mergeable.NO}
_PASSED = frozenset({"success", "neutral", "skipped"})
_OPINIONS = {
    "APPROVED": Opinion.APPROVED,
    "CHANGES_REQUESTED": Opinion.CHANGES_REQUESTED,
    "DISMISSED": Opinion.DISMISSED,
    "COMMENTED": Opinion.COMMENTED,
}


def read_pull(data: Fields, place: Place, repository: str, own: Person) -> PullRequest:
    """A pull request."""
    body, author = data.text("body"), read_person(data.child("user"))
    is_merged = data.flag("merged") or data.has("merged_at")
    state = PullState.MERGED if is_merged else PullState.CLOSED if data.text("state") == "closed" else PullState.OPEN
    mergeable = data.raw("mergeable")
    return PullRequest(
        ref=PullRef(place.name, repository, int(data.need("number"))),
        title=data.text("title"),
        body=strip_mark(body),
        author=author,
        state=state,
        is_draft=data.flag("draft"),
        mergeable=_MERGEABLE[mergeable] if isinstance(mergeable, bool) else Mergeable.UNKNOWN,
        head_branch=data.text("head", "ref"),
        head_commit=CommitId(data.need("head", "sha")),
        base_branch=data.text("base", "ref"),
        url=data.text("html_url"),
        updated_at=data.moment("updated_at"),
        head_repository=data.text("head", "repo", "full_name"),
        merge_commit=CommitId(data.text("merge_commit_sha")) if is_merged else None,
        labels=tuple(label.text("name") for label in data.children("labels")),
        key=read_mark(body) if author.id and author.id == own.id else "",
        native_id=data.text("node_id"),
    )


def read_review(data: Fields, permission: Permission, head: str) -> Review:
    """A review."""
    commit = data.text("commit_id")
    return Review(
        id=data.need("id"),
        author=read_person(data.child("user")),
        permission=permission,
        opinion=_OPINIONS.get(data.text("state"), Opinion.COMMENTED),
        text=data.text("body"),
        commit=commit,
        created_at=data.moment("submitted_at"),
        is_stale=bool(commit) and commit != head,
    )


def read_thread(data: Fields, comments: tuple[Comment, ...]) -> Thread:
    """A thread of GraphQL's, with its comments as REST has them."""
    return Thread(
        id=data.need("id"),
        comments=comments,
        path=data.text("path"),
        line=data.number("line"),
        is_resolved=data.flag("isResolved"),
    )


def read_check_run(data: Fields) -> Check:
    """A check run; those of GitHub Actions have logs."""
    conclusion = data.text("conclusion")
    is_job = data.text("app", "slug") == "github-actions"
    state = CheckState.PASSED if conclusion in _PASSED else CheckState.FAILED
    words = [data.text("output", "title"), data.text("output", "summary"), data.text("output", "text")]
    return Check(
        name=data.text("name"),
        state=state if data.text("status") == "completed" else CheckState.PENDING,
        outcome=conclusion or data.text("status"),
        summary="\n".join(word for word in words if word),
        url=data.text("html_url") or data.text("details_url"),
        log=data.text("id") if is_job else "",
    )


def read_commit_status(data: Fields) -> Check:
    """A commit status, the older kind of check; it has no log."""
    state = data.text("state")
    states = {"success": CheckState.PASSED, "pending": CheckState.PENDING}
    return Check(
        name=data.text("context"),
        state=states.get(state, CheckState.FAILED),
        outcome=state,
        summary=data.text("description"),
        url=data.text("target_url"),
    )
