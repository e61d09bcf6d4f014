"""GitLab's JSON, read into values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from whilly.domain.forge.issue import NOBODY, Comment, Issue, IssueState, Permission, Person
from whilly.domain.forge.marker import read_mark, strip_mark
from whilly.domain.forge.pull_request import Check, CheckState, Mergeable, PullRef, PullRequest, PullState
from whilly.domain.ids import CommitId

if TYPE_CHECKING:
    from whilly.domain.forge.place import Place
    from whilly.domain.forge.reference import IssueRef
    from whilly.transport.http.fields import Fields

DRAFT_PREFIX = "Draft: "
_DRAFT = re.compile(r"\s*(?:\[Draft\]|\(Draft\)|Draft:)\s*", re.IGNORECASE)
_STATES = {"merged": PullState.MERGED, "closed": PullState.CLOSED}
_CHECKS = {
    "success": CheckState.PASSED,
    "skipped": CheckState.PASSED,
    "manual": CheckState.PASSED,
    "failed": CheckState.FAILED,
    "canceled": CheckState.FAILED,
}
"""All other words are of checks that have not ended."""
FINDING_OUT = frozenset({"unchecked", "checking", "preparing", "approvals_syncing"})
"""Words of `detailed_merge_status` while GitLab makes up its mind."""


def set_draft(title: str, *, is_draft: bool) -> str:
    """The title by which GitLab knows whether a merge request is a draft."""
    plain = strip_draft(title)
    return f"{DRAFT_PREFIX}{plain}" if is_draft else plain


def strip_draft(title: str) -> str:
    """The title as people mean it."""
    found = _DRAFT.match(title)
    return title[found.end() :] if found else title


def read_person(user: Fields) -> Person:
    """An account; `NOBODY` where it is gone."""
    if not user.text("username"):
        return NOBODY
    return Person(user.text("id"), user.text("username"), is_bot=user.flag("bot"))


def read_own(user: Fields) -> Person:
    """Whose token it is.

    Raises:
        BadResponse: the answer does not say it.
    """
    user.need("username")
    return read_person(user)


def read_note(data: Fields, own: Person, permission: Permission = Permission.UNKNOWN, url: str = "") -> Comment:
    """A comment on an issue, a merge request or a line."""
    author, text = read_person(data.child("author")), data.text("body")
    number = data.need("id")
    return Comment(
        id=number,
        author=author,
        permission=permission,
        text=strip_mark(text),
        created_at=data.moment("created_at"),
        updated_at=data.moment("updated_at"),
        url=f"{url}#note_{number}" if url else "",
        key=read_mark(text) if author.id and author.id == own.id else "",
    )


def read_issue(
    data: Fields,
    ref: IssueRef,
    place: Place,
    permission: Permission = Permission.UNKNOWN,
    comments: tuple[Comment, ...] = (),
) -> Issue:
    """An issue."""
    state = IssueState.CLOSED if data.text("state") == "closed" else IssueState.OPEN
    return Issue(
        ref=ref,
        title=data.need_text("title"),
        body=data.text("description"),
        author=read_person(data.child("author")),
        permission=permission,
        state=state,
        status=str(state),
        url=f"{place.url}/{ref.scope}/-/issues/{ref.number}",
        created_at=data.moment("created_at"),
        updated_at=data.moment("updated_at"),
        labels=data.texts("labels"),
        comments=comments,
    )


def read_pull(data: Fields, place: Place, repository: str, own: Person) -> PullRequest:
    """A merge request."""
    body, author, title = data.text("description"), read_person(data.child("author")), data.text("title")
    state = _STATES.get(data.text("state"), PullState.OPEN)
    number = int(data.need("iid"))
    merged = data.text("merge_commit_sha") or data.text("squash_commit_sha") or data.text("sha")
    return PullRequest(
        ref=PullRef(place.name, repository, number),
        title=strip_draft(title),
        body=strip_mark(body),
        author=author,
        state=state,
        is_draft=data.flag("draft") or _DRAFT.match(title) is not None,
        mergeable=_read_mergeable(data),
        head_branch=data.text("source_branch"),
        head_commit=CommitId(data.need("sha")),
        base_branch=data.text("target_branch"),
        url=f"{place.url}/{repository}/-/merge_requests/{number}",
        updated_at=data.moment("updated_at"),
        head_repository=repository if data.text("source_project_id") == data.text("target_project_id") else "",
        merge_commit=CommitId(merged) if state is PullState.MERGED else None,
        labels=data.texts("labels"),
        key=read_mark(body) if author.id and author.id == own.id else "",
    )


def _read_mergeable(data: Fields) -> Mergeable:
    """`detailed_merge_status` names the first thing in the way; conflicts have a field of their own."""
    detailed = data.text("detailed_merge_status") or data.text("merge_status")
    if data.flag("has_conflicts") or detailed in {"conflict", "cannot_be_merged"}:
        return Mergeable.NO
    return Mergeable.UNKNOWN if detailed in {"", *FINDING_OUT} else Mergeable.YES


def read_check(data: Fields) -> Check:
    """A job of a pipeline or a status that somebody reported; only jobs have logs."""
    word = data.text("status")
    is_allowed = data.flag("allow_failure") and word in {"failed", "canceled"}
    return Check(
        name=data.text("name"),
        state=CheckState.PASSED if is_allowed else _CHECKS.get(word, CheckState.PENDING),
        outcome=f"{word}, allowed" if is_allowed else word,
        summary=data.text("description"),
        url=data.text("target_url"),
        log=data.text("id"),
    )
