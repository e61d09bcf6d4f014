"""Names made of people's titles, in whatever language these are."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from anyascii import anyascii

from whilly.domain.errors import RuleViolation

BRANCH_LENGTH: Final = 52
PREFIX: Final = "whilly/issue-"

_KEY = re.compile(r"[1-9][0-9]{0,17}|[A-Z][A-Z0-9_]{0,19}-[1-9][0-9]{0,9}")
_NO_SLUG = re.compile(r"[^a-z0-9]+")


def slugify(text: str, length: int) -> str:
    """`text` as lower-case ASCII words joined by `-`, at most `length` characters; may come to nothing."""
    words = _NO_SLUG.sub("-", anyascii(text).lower()).strip("-")
    return words[:length].rstrip("-")


def name_branch(key: str, title: str) -> str:
    """The branch of an issue: `whilly/issue-{key}-{slug}`, at most 52 characters, whole words where possible.

    Only letters and digits of the title count: what is left of a title of emoji is `whilly/issue-{key}`.

    Args:
        key: the issue's number, or its key in Jira's and Plane's form: `12`, `ABC-12`.
        title: as its author wrote it.

    Raises:
        RuleViolation: the key is none; it comes from a tracker, so that one of another form is an attack or a mistake.
    """
    if not _KEY.fullmatch(key):
        message = f"{key!r} is no key of an issue"
        raise RuleViolation(message, remedy="name it as its tracker does: 12, or ABC-12")
    head = f"{PREFIX}{key}"
    # Titles beyond this are cut anyway, and transliterating takes time.
    letters = "".join(_letter(each) for each in title[:500])
    room = BRANCH_LENGTH - len(head) - 1
    whole = slugify(letters, len(letters) * 8)
    slug = whole[:room].rstrip("-")
    if len(whole) > room and "-" not in whole[room - 1 : room + 1]:
        slug = slug.rpartition("-")[0] or slug
    return f"{head}-{slug}" if slug and room > 0 else head


def _letter(character: str) -> str:
    return character if unicodedata.category(character)[0] in "LNM" else " "
