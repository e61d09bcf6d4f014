"""Changes that already do what an issue wants: open ones, and those that were merged of late."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from whilly.domain.forge.pull_request import PullRequest, PullState
from whilly.domain.text.clean import clean
from whilly.domain.text.names import PREFIX, slugify

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from whilly.domain.forge.issue import Issue

CERTAIN: Final = 0.9
"""From here on it is the same thing, and nothing is begun."""
POSSIBLE: Final = 0.5
"""From here on people are told."""

_SAID, _NAMED, _FOREIGN = 1.0, 0.6, 0.7
_SAME_TITLE: Final = 0.8
_FEWEST_WORDS: Final = 3
_MAX_BODY: Final = 70_000
_CLOSING: Final = (
    r"\b(?:close[sd]?|closing|fix(?:es|ed|ing)?|resolve[sd]?|resolving|implement(?:s|ed|ing)?)\b"
    r"[\s:*_]{1,4}(?:issue\s+)?"
)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A change that may do the same.

    Attributes:
        score: from 0 to 1.
        reasons: for people, the strongest first.
    """

    pull: PullRequest
    score: float
    reasons: tuple[str, ...]

    @property
    def is_certain(self) -> bool:
        """Whether there is no point in beginning."""
        return self.score >= CERTAIN


def find_duplicates(
    issue: Issue, pulls: Iterable[PullRequest], own: str = "", merged_since: datetime | None = None
) -> list[Duplicate]:
    """The changes that may do what the issue wants, the surest first.

    What somebody says who may only propose changes from a copy of the repository is never certain: otherwise anybody
    could keep an issue from being worked on.

    Args:
        issue: what is wanted.
        pulls: of its repository: open ones and merged ones.
        own: the key under which Whilly opened a pull request of its own for this very run, which is no duplicate.
        merged_since: what was merged before does not count.
    """
    found = []
    for pull in pulls:
        if pull.state is PullState.CLOSED or (own and pull.key == own) or _is_old(pull, merged_since):
            continue
        signs = sorted(_find_signs(issue, pull), key=lambda sign: -sign[0])
        if signs:
            is_trusted = pull.state is PullState.MERGED or pull.head_repository in {"", pull.ref.repository}
            score = signs[0][0] if is_trusted else min(signs[0][0], _FOREIGN)
            found.append(Duplicate(pull, score, tuple(why for _, why in signs)))
    kept = [each for each in found if each.score >= POSSIBLE]
    return sorted(kept, key=lambda each: (-each.score, -each.pull.updated_at.timestamp(), each.pull.ref.number))


def _is_old(pull: PullRequest, merged_since: datetime | None) -> bool:
    return pull.state is PullState.MERGED and merged_since is not None and pull.updated_at < merged_since


def _find_signs(issue: Issue, pull: PullRequest) -> Iterator[tuple[float, str]]:
    ref, url = issue.ref, issue.url
    name = f"{pull.ref.short} ({pull.state})"
    number = re.escape(ref.number)
    targets = [rf"#{number}", rf"{re.escape(ref.short)}", *([re.escape(url)] if url else [])]
    is_local = ref.scope == pull.ref.repository or not ref.number.isdigit()
    target = "|".join(rf"{each}(?![\w/-])" for each in (targets if is_local else targets[1:]))
    # What is hidden between the words of a neutralised text stays there: it was put there so that it says nothing.
    text = f"{pull.title}\n{pull.body[:_MAX_BODY]}".replace("\r", "")
    if re.search(rf"{_CLOSING}(?:{target})", text, re.IGNORECASE):
        yield _SAID, f"{name} says that it closes {ref.short}"
    if re.match(rf"{re.escape(PREFIX)}{number}(?:-|$)", pull.head_branch):
        yield _SAID, f"{name} comes from `{pull.head_branch}`, the branch of this issue"
    elif is_local and re.search(rf"(?:^|[/_-])(?:issue[_-]?)?{number}(?:[/_-]|$)", pull.head_branch, re.IGNORECASE):
        yield _NAMED, f"{name} comes from `{pull.head_branch}`, which has the issue's number"
    if re.search(rf"(?<![\w/])(?:{target})", pull.title):
        yield _NAMED, f"{name} names {ref.short} in its title"
    alike = compare_titles(issue.title, pull.title)
    if alike >= _SAME_TITLE:
        yield round(0.5 + 0.3 * alike, 2), f"{name} is called “{clean(pull.title)[:100]}”"


def compare_titles(first: str, second: str) -> float:
    """How alike two titles are, from 0 to 1, whatever their case, order, endings and prefixes; 0 for short ones."""
    one, other = (_words(each) for each in (first, second))
    if min(len(one), len(other)) < _FEWEST_WORDS:
        return 0.0
    if one == other:
        return 1.0
    by_words = len(one & other) / len(one | other)
    trigrams, others = (_trigrams(each) for each in (one, other))
    return max(by_words, 2 * len(trigrams & others) / (len(trigrams) + len(others)))


@lru_cache(maxsize=4_096)
def _words(title: str) -> frozenset[str]:
    plain = re.sub(r"^\s*\[?\w+\]?(?:\([^)]*\))?!?:\s|\(?#\d+\)?|^\s*[A-Z][A-Z0-9]+-\d+[:\s]", " ", clean(title)[:300])
    return frozenset(word for word in slugify(plain, 600).split("-") if word not in _EMPTY)


_EMPTY: Final = frozenset({"", "the", "a", "an", "is", "are", "be", "to", "of", "in", "on", "for", "and", "with", "it"})


@lru_cache(maxsize=4_096)
def _trigrams(words: frozenset[str]) -> set[str]:
    return {padded[at : at + 3] for word in words for padded in [f" {word} "] for at in range(len(padded) - 2)}
