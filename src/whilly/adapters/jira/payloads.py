"""Jira's JSON, read into values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.adapters.jira.adf import from_adf
from whilly.adapters.jira.wiki import read_wiki_mark, strip_wiki_mark
from whilly.domain.forge.issue import NOBODY, Comment, Issue, IssueState, Permission, Person
from whilly.domain.forge.reference import IssueRef

if TYPE_CHECKING:
    from whilly.domain.forge.place import Place
    from whilly.transport.http.fields import Fields

PROPERTY = "whilly"
"""The property of a comment in the cloud that holds its key; people do not see it."""
FIELDS = "summary,description,status,labels,reporter,creator,created,updated,priority"


def read_person(user: Fields) -> Person:
    """An account, by its id in the cloud and by its key elsewhere; `NOBODY` where it is gone."""
    name = user.text("accountId") or user.text("key") or user.text("name")
    if not name:
        return NOBODY
    login = user.text("name") or user.text("displayName") or name
    return Person(name, login, is_bot=user.text("accountType") == "app")


def read_own(user: Fields) -> Person:
    """Whose token it is.

    Raises:
        BadResponse: the answer does not say it.
    """
    person = read_person(user)
    return person if person.id else Person(user.need("accountId"), "")


def read_comment(data: Fields, own: Person, permission: Permission = Permission.UNKNOWN, url: str = "") -> Comment:
    """A comment."""
    author, text = read_person(data.child("author")), from_adf(data.raw("body"))
    number = data.need("id")
    return Comment(
        id=number,
        author=author,
        permission=permission,
        text=strip_wiki_mark(text),
        created_at=data.moment("created"),
        updated_at=data.moment("updated"),
        url=f"{url}?focusedCommentId={number}" if url else "",
        key=_read_key(data, text) if author.id and author.id == own.id else "",
    )


def _read_key(data: Fields, text: str) -> str:
    kept = [each.text("value", "key") for each in data.children("properties") if each.text("key") == PROPERTY]
    return kept[0] if kept else read_wiki_mark(text)


def read_issue(
    data: Fields, place: Place, permission: Permission = Permission.UNKNOWN, comments: tuple[Comment, ...] = ()
) -> Issue:
    """An issue."""
    key, fields = data.need("key"), data.child("fields")
    # Who filed it may have done so for the reporter, whom anybody may name: the creator cannot be chosen.
    author = read_person(fields.child("creator"))
    is_done = fields.text("status", "statusCategory", "key") == "done"
    return Issue(
        ref=IssueRef(place.name, key.rpartition("-")[0], key),
        title=fields.need_text("summary"),
        body=from_adf(fields.raw("description")),
        author=author,
        permission=permission,
        state=IssueState.CLOSED if is_done else IssueState.OPEN,
        status=fields.text("status", "name"),
        url=f"{place.url}/browse/{key}",
        created_at=fields.moment("created"),
        updated_at=fields.moment("updated"),
        labels=fields.texts("labels"),
        priority=fields.text("priority", "name"),
        comments=comments,
    )
