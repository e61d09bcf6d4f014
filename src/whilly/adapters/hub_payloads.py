"""JSON of issues as GitHub made it and Gitea took it over, read into values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.domain.forge.issue import NOBODY, Comment, Issue, IssueState, Permission, Person
from whilly.domain.forge.marker import read_mark, strip_mark

if TYPE_CHECKING:
    from whilly.domain.forge.reference import IssueRef
    from whilly.transport.http.fields import Fields


def read_person(user: Fields) -> Person:
    """An account; `NOBODY` where it is gone."""
    if not user.text("login"):
        return NOBODY
    return Person(user.text("id"), user.text("login"), is_bot=user.text("type") == "Bot")


def read_own(user: Fields) -> Person:
    """Whose token it is.

    Raises:
        BadResponse: the answer does not say it.
    """
    user.need("login")
    return read_person(user)


def read_comment(data: Fields, own: Person, permission: Permission = Permission.UNKNOWN) -> Comment:
    """A comment on an issue, a pull request or a line."""
    author = read_person(data.child("user"))
    text = data.text("body")
    key = read_mark(text) if author.id and author.id == own.id else ""
    return Comment(
        id=data.need("id"),
        author=author,
        permission=permission,
        text=strip_mark(text),
        created_at=data.moment("created_at"),
        updated_at=data.moment("updated_at"),
        url=data.text("html_url"),
        key=key,
    )


def read_issue(
    data: Fields, ref: IssueRef, permission: Permission = Permission.UNKNOWN, comments: tuple[Comment, ...] = ()
) -> Issue:
    """An issue."""
    state = IssueState.CLOSED if data.text("state") == "closed" else IssueState.OPEN
    return Issue(
        ref=ref,
        title=data.need_text("title"),
        body=data.text("body"),
        author=read_person(data.child("user")),
        permission=permission,
        state=state,
        status=data.text("state_reason") or str(state),
        url=data.text("html_url"),
        created_at=data.moment("created_at"),
        updated_at=data.moment("updated_at"),
        labels=tuple(label.text("name") for label in data.children("labels")),
        comments=comments,
        is_pull_request=data.has("pull_request"),
    )
