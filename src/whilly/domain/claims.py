"""Claims on files: what an item says that it is about to change.

A claim is a repository-relative POSIX path, a directory or a glob (`**`, `*`, `?`, `[…]`). It covers the paths that it
matches and everything beneath them, so `src`, `src/` and `src/**` claim the same. `*` stays within one path component.
A literal reading counts as well as the glob's, because `app/[id]/page.tsx` is also the name of a file.

Case counts and Unicode is compared in its composed form, as git does it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

ROOT: Final = "."
"""The claim on the whole repository."""

_WILDCARD = re.compile(r"[*?\[]")
_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MANY: Final = "**"
_ANY: Final = "??"
_TOKEN = re.compile(r"\*+|\?|\[[!^]?\]?[^\]]*\]|.", re.DOTALL)
_HAS_EXTENSION = re.compile(r".\.[A-Za-z]\w*\Z")


@dataclass(frozen=True, slots=True)
class Refused:
    """A path that cannot be a claim.

    Attributes:
        reason: completes the sentence "this path …".
    """

    path: str
    reason: str


def normalize(path: str) -> str | Refused:
    """The one spelling of a claim: composed, `/` between components, no `.`, no `..`, no trailing `/`."""
    text = unicodedata.normalize("NFC", path.strip()).replace("\\", "/")
    if not text:
        return Refused(path, "is empty")
    if _CONTROL.search(text):
        return Refused(path, "contains a control character")
    if text.startswith(("/", "~/")) or text == "~" or _DRIVE.match(text):
        return Refused(path, "is absolute; it must be relative to the repository's root")
    return _collapse(path, text)


def _collapse(path: str, text: str) -> str | Refused:
    components: list[str] = []
    for component in text.split("/"):
        if component == "..":
            if not components:
                return Refused(path, "leaves the repository")
            if is_glob(components.pop()):
                return Refused(path, "has `..` after a wildcard, so it cannot be told where it leads")
        elif component not in {"", "."}:
            components.append(component)
    while components[-1:] == ["**"]:
        components.pop()
    return "/".join(components) or ROOT


def is_glob(claim: str) -> bool:
    """Whether the claim has wildcards."""
    return _WILDCARD.search(claim) is not None


@lru_cache(maxsize=65_536)
def ancestors(claim: str) -> tuple[str, ...]:
    """The directories that contain the path, nearest first; the last one is `ROOT`."""
    if claim == ROOT:
        return ()
    parts = claim.split("/")
    return (*("/".join(parts[:end]) for end in range(len(parts) - 1, 0, -1)), ROOT)


def overlaps(a: str, b: str) -> bool:
    """Whether a path can exist that both claims cover.

    Where it cannot be told, the answer is yes: waiting costs time, a collision costs work. A last component with a file
    extension (`*.py`, `notes.md`) is taken for a file, so `**/*.py` and `notes.md` do not overlap.

    Args:
        a: a normalised claim.
        b: a normalised claim.
    """
    if a == b or ROOT in {a, b} or a.startswith(f"{b}/") or b.startswith(f"{a}/"):
        return True
    if not is_glob(a) and not is_glob(b):
        return False
    return _globs_meet(*sorted((a, b)))


def covers(claim: str, path: str) -> bool:
    """Whether this very path, or a directory that contains it, matches the claim."""
    if claim in {path, ROOT} or path.startswith(f"{claim}/"):
        return True
    return is_glob(claim) and _paths_meet(claim, _WILDCARD.sub(r"[\g<0>]", path), are_trees=(True, False))


def outside(paths: Iterable[str], claims: Iterable[str]) -> tuple[str, ...]:
    """The changed paths that no claim covers, in their order; an item without claims is outside with all of them.

    Args:
        paths: repository-relative paths as git reports them.
        claims: normalised claims.
    """
    wanted = tuple(claims)
    return tuple(
        path for path in paths if not any(covers(claim, unicodedata.normalize("NFC", path)) for claim in wanted)
    )


@lru_cache(maxsize=65_536)
def _globs_meet(a: str, b: str) -> bool:
    return _paths_meet(a, b, are_trees=(not _HAS_EXTENSION.search(a), not _HAS_EXTENSION.search(b)))


def _paths_meet(a: str, b: str, *, are_trees: tuple[bool, bool]) -> bool:
    """Whether one path can match both; a tree's path may go on beneath what the claim matches."""
    return _can_meet(a.split("/"), b.split("/"), _components_meet, are_trees)


def _components_meet(a: str, b: str) -> bool:
    return a == b or _can_meet(_tokens(a), _tokens(b), _characters_meet, (False, False))


def _tokens(component: str) -> list[str]:
    """A character, `_MANY`, `_ANY` or a set of at least two characters each; `[x]` is the character x."""
    return [_token(each) for each in _TOKEN.findall(component)]


def _token(text: str) -> str:
    if text[0] == "*":
        return _MANY
    if text == "?":
        return _ANY
    if len(text) == len("[x]"):
        return text[1]
    return f"[!{text[2:]}" if text.startswith("[^") else text


def _characters_meet(a: str, b: str) -> bool:
    if len(a) == len(b) == 1:
        return a == b
    if len(a) > 1 and len(b) > 1:
        return True
    pattern, character = (a, b) if len(a) > 1 else (b, a)
    return pattern == _ANY or fnmatchcase(character, pattern)


def _can_meet(
    a: Sequence[str], b: Sequence[str], pair: Callable[[str, str], bool], open_ended: tuple[bool, bool]
) -> bool:
    """Walk two patterns side by side: can one sequence match both?

    Args:
        a: the entries of one pattern.
        b: the entries of the other.
        pair: whether two entries, none of them `_MANY`, can match the same thing.
        open_ended: for each pattern, whether the sequence may go on after what it matches.
    """
    seen: set[tuple[int, int]] = set()
    todo = [(0, 0)]
    while todo:
        place = i, j = todo.pop()
        if place in seen:
            continue
        seen.add(place)
        ended = (i == len(a), j == len(b))
        if all(ended) or any(end and is_open for end, is_open in zip(ended, open_ended, strict=True)):
            return True
        todo.extend(_steps(a[i] if i < len(a) else "", b[j] if j < len(b) else "", place, pair))
    return False


def _steps(x: str, y: str, place: tuple[int, int], pair: Callable[[str, str], bool]) -> Iterator[tuple[int, int]]:
    """Where the walk can go from here; an empty entry is the end of a pattern."""
    i, j = place
    if x == _MANY or (y == _MANY and x):
        yield i + 1, j
    if y == _MANY or (x == _MANY and y):
        yield i, j + 1
    if x and y and _MANY not in {x, y} and pair(x, y):
        yield i + 1, j + 1
