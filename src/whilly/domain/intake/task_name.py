"""What tasks that came from issues are called, and whose they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from whilly.domain.errors import WhillyError
from whilly.domain.forge.place import Place, Provider
from whilly.domain.forge.reference import IssueRef, parse_reference
from whilly.domain.ids import ItemId

if TYPE_CHECKING:
    from collections.abc import Sequence

PREFIXES: Final = {
    Provider.GITHUB: "GH",
    Provider.GITEA: "GT",
    Provider.GITLAB: "GL",
    Provider.JIRA: "JIRA",
    Provider.PLANE: "PLANE",
}
"""Provider → what the ids of its tasks begin with; those of Jira and Plane are the keys, as long as they are free."""


def name_task(provider: Provider, ref: IssueRef) -> tuple[ItemId, ItemId]:
    """The id of the issue's task, and the one that it gets when something else has that."""
    prefix = PREFIXES[provider]
    if not provider.has_repositories:
        return ItemId(ref.number), ItemId(f"{prefix}-{ref.number}")
    scope = re.sub(r"[^\w.]+", "-", ref.scope)
    return ItemId(f"{prefix}-{ref.number}"), ItemId(f"{prefix}-{scope}-{ref.number}")


def find_issue(url: str, places: Sequence[Place]) -> IssueRef | None:
    """The issue that an address names; None when it names none of a known place."""
    if not url.casefold().startswith(("http://", "https://")):
        return None
    try:
        ref = parse_reference(url, places)
    except WhillyError:
        return None
    return ref if isinstance(ref, IssueRef) else None


def find_dependency(text: str, issue: IssueRef, places: Sequence[Place]) -> IssueRef | None:
    """The issue that another one means by `#3`, `owner/name#4`, `ABC-5` or an address."""
    scope, mark, number = text.rpartition("#")
    if mark and number.isdigit():
        return IssueRef(issue.place, scope or issue.scope, number)
    if "://" in text:
        return find_issue(text, places)
    return IssueRef(issue.place, text.rpartition("-")[0], text)


def key_of(ref: IssueRef) -> str:
    """One name for one issue: forges do not tell `Ada/Engine` and `ada/engine` apart."""
    return ref.key.casefold()
