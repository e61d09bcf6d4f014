"""What an import is asked for: of which place, which lists of issues, which single ones."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from whilly.domain.errors import ConfigError, RuleViolation, WhillyError
from whilly.domain.forge.issue import IssueQuery
from whilly.domain.forge.place import Place, Provider
from whilly.domain.forge.reference import IssueRef, parse_reference, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whilly.bootstrap import Project

_REPOSITORY: Final = re.compile(r"[\w.-]+(?:/[\w.-]+)+")
_PROJECT: Final = re.compile(r"[A-Z][A-Z0-9_]*")


@dataclass(frozen=True, slots=True)
class Filters:
    """Which issues of a scope are wanted."""

    labels: tuple[str, ...]
    text: str
    jql: str
    limit: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for.

    Attributes:
        places: the same place by all addresses that it is known by.
        named: single issues.
    """

    place: Place
    places: tuple[Place, ...]
    queries: tuple[IssueQuery, ...]
    named: tuple[IssueRef, ...]


def read_wanted(project: Project, word: str, texts: Sequence[str], filters: Filters) -> Wanted:
    """What the command line asks for.

    Raises:
        ConfigError: there is no such place.
        RuleViolation: a scope or a filter means nothing there.
    """
    home = asyncio.run(project.find_home())
    place = project.places.by_name[project.places.choose(word, home.place if home else "")]
    _check_filters(place, filters)
    places = tuple(each for each in project.places.known() if each.name == place.name)
    found = [_read_scope(text, place, places) for text in texts]
    scopes = [each for each in found if isinstance(each, str)]
    if not texts and place.provider.has_repositories and home and home.place == place.name:
        scopes = [home.repository]
    if not texts and not scopes and not filters.jql:
        what = "repository" if place.provider.has_repositories else "project"
        message = f"it is not said which {what} of {place.name} is meant"
        raise RuleViolation(message, remedy=f"whilly import {word} {'OWNER/NAME' if what == 'repository' else 'ABC'}")
    if filters.jql and texts:
        message = "--jql says by itself which issues are meant, and there is a project as well"
        raise RuleViolation(message, remedy='write it into the query: --jql "project = ABC AND …"')
    queries = [
        IssueQuery(scope, labels=filters.labels, text=filters.text, native=filters.jql, limit=filters.limit)
        for scope in dict.fromkeys(scopes or ([""] if filters.jql else []))
    ]
    return Wanted(place, places, tuple(queries), tuple(each for each in found if isinstance(each, IssueRef)))


def _check_filters(place: Place, filters: Filters) -> None:
    if filters.jql and place.provider is not Provider.JIRA:
        message = f"--jql is the language of Jira, and {place.name} is {place.provider}"
        raise RuleViolation(message, remedy="use --label and --query")
    if filters.jql and filters.labels:
        message = "--jql and --label exclude each other"
        raise RuleViolation(message, remedy='write it into the query: --jql "labels = …"')


def _read_scope(text: str, place: Place, places: tuple[Place, ...]) -> IssueRef | str:
    """The single issue that a text names, or else the repository or project."""
    is_key = not place.provider.has_repositories
    # Keys are always written in capitals.
    word = text.strip().upper() if is_key and "://" not in text else text.strip()
    if "://" in word:
        path = next((found for each in places if (found := each.find_path(word)) is not None), None)
        if path is None:
            message = f"{shorten(word)} is not on {place.name} ({place.url})"
            raise ConfigError(message, remedy="name the place that it is on")
        if not is_key and _REPOSITORY.fullmatch(path) and path.count("/") == 1:
            return path.removesuffix(".git")
    try:
        ref = parse_reference(word if "://" in word else f"{place.name}:{word}", places)
    except WhillyError:
        if "://" in word:
            raise
        ref = None
    if isinstance(ref, IssueRef):
        return ref
    if not (_PROJECT if is_key else _REPOSITORY).fullmatch(word):
        message = f"{shorten(word)} is no {'project' if is_key else 'repository'} of {place.name}, and no issue"
        raise RuleViolation(message, remedy="write ABC or ABC-12" if is_key else "write owner/name or owner/name#12")
    return word
