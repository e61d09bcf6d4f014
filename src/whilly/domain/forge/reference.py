"""What people write to name a work item, read into what it means."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import parse_qs, urlsplit

from whilly.domain.errors import ConfigError, RuleViolation
from whilly.domain.forge.place import GITHUB_COM, Place, Provider, guess_kind
from whilly.domain.ids import ItemId

if TYPE_CHECKING:
    from collections.abc import Sequence


TASKS: Final = "plan"
"""The place of tasks of plan files that are worked on as issues; their scope is the plan's id."""


@dataclass(frozen=True, slots=True)
class IssueRef:
    """An issue of a tracker.

    Attributes:
        place: the name of the place that holds it.
        scope: the repository, `owner/name`; for Jira and Plane the project's key, empty where the URL has none.
        number: `12`; for Jira and Plane the whole key, `ABC-12`, or the item's UUID.
    """

    place: str
    scope: str
    number: str

    @property
    def short(self) -> str:
        """As people write it: `owner/name#12`, `ABC-12`."""
        return f"{self.scope}#{self.number}" if self.number.isdigit() else self.number

    @property
    def key(self) -> str:
        """Its one name among all items of all places: `github:owner/name#12`, `plan:tasks-1a2b3c4d/TASK-1`."""
        # Two plan files may have a task of the same name.
        return f"{self.place}:{self.scope}/{self.number}" if self.place == TASKS else f"{self.place}:{self.short}"


@dataclass(frozen=True, slots=True)
class TaskRef:
    """A task of a plan file."""

    plan: str
    task: ItemId


@dataclass(frozen=True, slots=True)
class StandardInput:
    """A work item whose text comes from standard input."""


ItemRef: TypeAlias = IssueRef | TaskRef | StandardInput

FORMS: Final = (
    "owner/repo#12, owner/repo/12, an issue's URL, a Jira or Plane key (ABC-12), tasks.json#TASK-1, "
    "or - for standard input"
)
_REPOSITORY = r"(?!\.+/)[A-Za-z0-9_.-]+(?:/(?!\.+(?:[/#]|$))[A-Za-z0-9_.-]+)+"
_SHORT = re.compile(rf"(?:(?P<place>[A-Za-z][\w.-]*):)?(?P<scope>{_REPOSITORY})[#/](?P<number>[1-9]\d*)")
_KEY = re.compile(r"(?:(?P<place>[A-Za-z][\w.-]*):)?(?P<key>(?P<scope>[A-Z][A-Z0-9_]*)-[1-9]\d*)")
_TASK = re.compile(r"(?P<plan>.+\.json)[#:](?P<task>\S+)")
_URL = re.compile(r"https?://\S+", re.IGNORECASE)
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

_PATHS: Final[dict[Provider, tuple[str, ...]]] = {
    Provider.GITHUB: (r"(?P<scope>[^/]+/[^/]+)/issues/(?P<number>\d+)",),
    Provider.GITEA: (r"(?P<scope>[^/]+/[^/]+)/issues/(?P<number>\d+)",),
    Provider.GITLAB: (r"(?P<scope>.+?)(?:/-)?/(?:issues(?:/incident)?|work_items)/(?P<number>\d+)",),
    Provider.JIRA: (
        r"(?:.*/)?browse/(?P<number>(?P<scope>[A-Za-z][A-Za-z0-9_]*)-\d+)",
        r"(?:.*/)?issues/(?P<number>(?P<scope>[A-Za-z][A-Za-z0-9_]*)-\d+)",
    ),
    Provider.PLANE: (
        r"[^/]+/browse/(?P<number>(?P<scope>[A-Za-z0-9_]+)-\d+)",
        rf"[^/]+/projects/(?P<scope>{_UUID})/(?:issues|work-items)/(?P<number>{_UUID})",
    ),
}
_PULLS = re.compile(r"/(?:pull|pulls|merge_requests)/\d+")


def parse_reference(text: str, places: Sequence[Place], default: str = "") -> ItemRef:
    """What a text names.

    Args:
        text: one of `FORMS`.
        places: the places that are known; github.com always is.
        default: the name of the place that `owner/repo#12` means when it does not say one: usually the forge that
            the repository came from. Empty: the only place that fits, or else github.com.

    Raises:
        RuleViolation: it names no work item, or several places fit.
        ConfigError: it lies on a place that is not configured.
    """
    text = text.strip()
    known = _with_github(places)
    if text == "-":
        return StandardInput()
    if _URL.fullmatch(text):
        try:
            return _parse_url(text, known)
        except ValueError as error:
            message = f"{shorten(text)} is no address: {error}"
            raise RuleViolation(message, remedy=f"write {FORMS}") from error
    if found := _TASK.fullmatch(text):
        return TaskRef(found["plan"], ItemId(found["task"]))
    if found := _SHORT.fullmatch(text):
        place = _choose(text, known, found["place"], default, has_repositories=True)
        return IssueRef(place.name, found["scope"], found["number"])
    if found := _KEY.fullmatch(text):
        place = _choose(text, known, found["place"], default, has_repositories=False)
        return IssueRef(place.name, found["scope"], found["key"])
    message = f"{shorten(text)} names no work item"
    raise RuleViolation(message, remedy=f"write {FORMS}")


def shorten(text: str) -> str:
    """A text for a message: quoted, on one line, at most 80 characters."""
    return repr(text if len(text) <= 80 else f"{text[:79]}…")  # noqa: PLR2004  (as the docstring says)


def _with_github(places: Sequence[Place]) -> list[Place]:
    has_it = any(place.find_path(GITHUB_COM.url) is not None or place.name == GITHUB_COM.name for place in places)
    return [*places, *([] if has_it else [GITHUB_COM])]


def _choose(text: str, places: Sequence[Place], name: str | None, default: str, *, has_repositories: bool) -> Place:
    fitting = [place for place in places if place.provider.has_repositories is has_repositories]
    if name:
        chosen = [place for place in fitting if place.name == name]
        if not chosen:
            names = ", ".join(place.name for place in fitting) or "none"
            message = f"{shorten(text)}: there is no {_what(has_repositories=has_repositories)} named {name!r}"
            raise ConfigError(message, remedy=f"configured are: {names}")
        return chosen[0]
    if not fitting:
        message = f"{shorten(text)} looks like a key of Jira or Plane, and neither is configured"
        remedy = "set up [trackers.NAME] with its kind and url; a task of a plan file is written tasks.json#TASK-1"
        raise ConfigError(message, remedy=remedy)
    return _choose_unnamed(text, fitting, default)


def _choose_unnamed(text: str, fitting: Sequence[Place], default: str) -> Place:
    # A place may be known by several addresses.
    own: dict[str, Place] = {}
    for place in fitting:
        if place is not GITHUB_COM:
            own.setdefault(place.name, place)
    by_default = [place for place in fitting if place.name == default]
    if by_default or len(own) <= 1:
        return (by_default or [*own.values()] or list(fitting))[0]
    names = " or ".join(f"{name}:{text}" for name in own)
    message = f"{shorten(text)} may be in several places"
    raise RuleViolation(message, remedy=f"write {names}, or the URL")


def _what(*, has_repositories: bool) -> str:
    return "forge" if has_repositories else "tracker with keys"


def _parse_url(url: str, places: Sequence[Place]) -> IssueRef:
    # The longest prefix first: one place may lie below another one's address.
    for place in sorted(places, key=lambda each: -len(each.url)):
        path = place.find_path(url)
        if path is not None:
            return _parse_path(url, path, place)
    host = urlsplit(url).netloc.rpartition("@")[2]
    kind = guess_kind(host.partition(":")[0].lower())
    table = "trackers" if kind in {"jira", "plane"} else "forges"
    message = f"{host} is no tracker or forge that Whilly knows"
    remedy = (
        f'configure it: [{table}.NAME] kind = "{kind or "github | gitea | forgejo | gitlab"}", url = "https://{host}"'
    )
    raise ConfigError(message, remedy=remedy)


def _parse_path(url: str, path: str, place: Place) -> IssueRef:
    for pattern in _PATHS[place.provider]:
        if found := re.fullmatch(pattern, path):
            return IssueRef(place.name, found["scope"], found["number"])
    selected = parse_qs(urlsplit(url).query).get("selectedIssue", [""])[0]
    if place.provider is Provider.JIRA and (found := _KEY.fullmatch(selected)):
        return IssueRef(place.name, found["scope"], found["key"])
    if _PULLS.search(f"/{path}"):
        message = f"{shorten(url)} is a pull request, not an issue"
        raise RuleViolation(message, remedy="name the issue that it is about")
    message = f"{shorten(url)} is on {place.name} ({place.provider}), but it is not the address of an issue"
    raise RuleViolation(message, remedy="open the issue in the browser and copy its address")
