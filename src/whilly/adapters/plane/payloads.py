"""Plane's JSON, read into values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.adapters.plane.html import from_html
from whilly.domain.forge.issue import NOBODY, Comment, Issue, IssueState, Permission, Person

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.forge.reference import IssueRef
    from whilly.transport.http.fields import Fields

SOURCE = "whilly"
"""The `external_source` of Whilly's comments; with `external_id` it is unique for each item."""
CLOSED_GROUPS = frozenset({"completed", "cancelled"})


def read_person(user: Fields) -> Person:
    """An account."""
    return Person(user.text("id"), user.text("display_name") or user.text("id")) if user.text("id") else NOBODY


def read_own(user: Fields) -> Person:
    """Whose token it is.

    Raises:
        BadResponse: the answer does not say it.
    """
    user.need("id")
    return read_person(user)


def read_comment(data: Fields, people: Mapping[str, Person], own: Person, permission: Permission) -> Comment:
    """A comment; `people` are the project's members by id."""
    author = read_author(data, "actor", people)
    is_own = author.id == own.id and data.text("external_source") == SOURCE
    return Comment(
        id=data.need("id"),
        author=author,
        permission=permission,
        text=from_html(data.text("comment_html")),
        created_at=data.moment("created_at"),
        # Plane writes a time before the creation into what was never changed.
        updated_at=max(data.moment("updated_at"), data.moment("created_at")),
        key=data.text("external_id").partition("#")[0] if is_own else "",
    )


def read_author(data: Fields, name: str, people: Mapping[str, Person]) -> Person:
    """Who made it: an id, or an object where it was asked for."""
    if data.has(name, "id"):
        return read_person(data.child(name))
    who = data.text(name)
    return people.get(who, Person(who, who)) if who else NOBODY


def read_issue(
    data: Fields,
    ref: IssueRef,
    url: str,
    author: Person,
    permission: Permission = Permission.UNKNOWN,
    comments: tuple[Comment, ...] = (),
) -> Issue:
    """A work item whose state and labels were expanded."""
    is_closed = data.text("state", "group") in CLOSED_GROUPS
    return Issue(
        ref=ref,
        title=data.need_text("name"),
        body=from_html(data.text("description_html")),
        author=author,
        permission=permission,
        state=IssueState.CLOSED if is_closed else IssueState.OPEN,
        status=data.text("state", "name"),
        url=url,
        created_at=data.moment("created_at"),
        updated_at=data.moment("updated_at"),
        labels=tuple(label.text("name") for label in data.children("labels")),
        priority=data.text("priority").replace("none", ""),
        comments=comments,
    )
