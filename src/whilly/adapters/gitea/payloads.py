"""Gitea's JSON, read into values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin

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
)
from whilly.domain.ids import CommitId

if TYPE_CHECKING:
    from whilly.domain.forge.issue import Permission, Person
    from whilly.domain.forge.place import Place
    from whilly.transport.http.fields import Fields

DRAFT_PREFIX = "WIP: "
_DRAFT = re.compile(r"\s*(?:\[WIP\]|WIP:)\s*", re.IGNORECASE)
_JOB = re.compile(r"/actions/runs/(\d+)/jobs/(\d+)")
_OPINIONS = {
    "APPROVED": Opinion.APPROVED,
    "REQUEST_CHANGES": Opinion.CHANGES_REQUESTED,
    "COMMENT": Opinion.COMMENTED,
}
_CHECKS = {
    "success": CheckState.PASSED,
    "warning": CheckState.PASSED,
    "skipped": CheckState.PASSED,
    "pending": CheckState.PENDING,
}


def set_draft(title: str, *, is_draft: bool) -> str:
    """The title by which Gitea knows whether a pull request is a draft."""
    plain = strip_draft(title)
    return f"{DRAFT_PREFIX}{plain}" if is_draft else plain


def strip_draft(title: str) -> str:
    """The title as people mean it."""
    found = _DRAFT.match(title)
    return title[found.end() :] if found else title


def read_pull(data: Fields, place: Place, repository: str, own: Person) -> PullRequest:
    """A pull request."""
    body, author, title = data.text("body"), read_person(data.child("user")), data.text("title")
    is_merged = data.flag("merged")
    is_draft = data.flag("draft") or _DRAFT.match(title) is not None
    closed = data.text("state") == "closed"
    state = PullState.MERGED if is_merged else PullState.CLOSED if closed else PullState.OPEN
    # A draft is never called mergeable, whether or not it has conflicts.
    is_unknown = not data.has("mergeable") or (is_draft and not data.flag("mergeable"))
    number = int(data.need("number"))
    return PullRequest(
        ref=PullRef(place.name, repository, number),
        title=strip_draft(title),
        body=strip_mark(body),
        author=author,
        state=state,
        is_draft=is_draft,
        mergeable=Mergeable.UNKNOWN if is_unknown else Mergeable.YES if data.flag("mergeable") else Mergeable.NO,
        head_branch=_read_branch(data.child("head")),
        head_commit=CommitId(data.need("head", "sha")),
        base_branch=data.text("base", "ref"),
        # The server's own links name the address that it was told, which people need not be able to reach.
        url=f"{place.url}/{repository}/pulls/{number}",
        updated_at=data.moment("updated_at"),
        head_repository=data.text("head", "repo", "full_name"),
        merge_commit=CommitId(data.text("merge_commit_sha")) if is_merged else None,
        labels=tuple(label.text("name") for label in data.children("labels")),
        key=read_mark(body) if author.id and author.id == own.id else "",
    )


def _read_branch(head: Fields) -> str:
    """The name of the head branch; once the branch is gone, `ref` names a ref of Gitea's own."""
    name = head.text("ref")
    return head.text("label").rpartition(":")[2] if name.startswith("refs/pull/") else name


def read_review(data: Fields, permission: Permission, head: str) -> Review | None:
    """A review; None for one that is not given, or only carries comments on lines."""
    state, text = data.text("state"), data.text("body")
    if state not in _OPINIONS or (state == "COMMENT" and not text):
        return None
    commit = data.text("commit_id")
    return Review(
        id=data.need("id"),
        author=read_person(data.child("user")),
        permission=permission,
        opinion=Opinion.DISMISSED if data.flag("dismissed") else _OPINIONS[state],
        text=text,
        commit=commit,
        created_at=data.moment("submitted_at"),
        is_stale=data.flag("stale") or (bool(commit) and commit != head),
    )


def read_check(data: Fields, place: Place) -> Check:
    """A commit status; those of Gitea's own actions have logs."""
    # Lists call it `status`, what answers a new one calls it `state`.
    word = data.text("status") or data.text("state")
    url = data.text("target_url")
    job = _JOB.search(url)
    return Check(
        name=data.text("context"),
        state=_CHECKS.get(word, CheckState.FAILED),
        outcome=word,
        summary=data.text("description"),
        url=urljoin(f"{place.url}/", url) if url else "",
        log=f"{job[1]}/{job[2]}" if job else "",
    )
