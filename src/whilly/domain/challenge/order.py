"""What is wrong between the pieces of a plan: order, doubles, work that gives nothing."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Final

from whilly.domain.challenge.aspects import SEPARATION
from whilly.domain.challenge.finding import Kind, Objection, Severity
from whilly.domain.claims import is_glob, overlaps
from whilly.domain.intake.contradictions import find_opposites
from whilly.domain.intake.duplicates import compare_titles

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whilly.domain.challenge.piece import Piece

MAX_PIECES: Final = 300
"""Pairs of more pieces than these are not compared: it would take minutes."""

_ALIKE: Final = 0.8
_SMALL: Final = 2
_TELLING: Final = 4


def find_order_faults(pieces: Sequence[Piece]) -> Iterator[Objection]:
    """What is wrong between pieces, in the order of the pieces."""
    reached = _reach(pieces)
    for piece in pieces:
        yield from _find_false(piece, pieces)
        yield from _find_idle(piece, pieces)
    for first, second in combinations(pieces[:MAX_PIECES], 2):
        yield from _find_missing(first, second, reached)
        yield from _find_doubles(first, second)
        yield from _find_mergeable(first, second, pieces)


def _reach(pieces: Sequence[Piece]) -> dict[str, set[str]]:
    """For each piece everything that has to be done before it. The dependencies have no cycle."""
    own = {piece.id: piece.dependencies for piece in pieces}
    reached: dict[str, set[str]] = {}
    for start, wanted in own.items():
        seen: set[str] = set()
        todo = list(wanted)
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += own.get(name, ())
        reached[start] = seen
    return reached


def _share(first: Piece, second: Piece) -> bool:
    return any(overlaps(one, two) for one in first.key_files for two in second.key_files)


def _names(text: str, name: str) -> bool:
    # Looking for the plain text first saves a pattern for each pair.
    return name in text and re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-])", text) is not None


def _find_missing(first: Piece, second: Piece, reached: dict[str, set[str]]) -> Iterator[Objection]:
    if first.id in reached[second.id] or second.id in reached[first.id] or _share(first, second):
        # On the same files they never run at the same time.
        return
    for piece, other in ((first, second), (second, first)):
        files = [path for path in other.key_files if not is_glob(path) and "." in path and path not in piece.key_files]
        said = [name for name in (other.id, *files) if len(name) >= _TELLING and _names(piece.text, name)]
        if said:
            text = f"{piece.id} speaks of `{said[0]}` of {other.id}, but does not wait for it"
            advice = f"add {other.id} to the dependencies of {piece.id}, or the file to its key_files"
            yield Objection(Kind.MISSING_DEPENDENCY, Severity.HIGH, (piece.id, other.id), text, advice, (10,))
            return


def _find_false(piece: Piece, pieces: Sequence[Piece]) -> Iterator[Objection]:
    by_id = {each.id: each for each in pieces}
    for name in piece.dependencies:
        other = by_id.get(name)
        if other is None or not piece.key_files or not other.key_files:
            continue
        speaks = any(_names(piece.text, word) for word in (other.id, *other.key_files))
        if not _share(piece, other) and not speaks and not _significant(piece.text) & _significant(other.title):
            text = f"{piece.id} waits for {other.id}, and nothing in it says why"
            advice = "say what it needs from there, or let both run at the same time"
            yield Objection(Kind.FALSE_DEPENDENCY, Severity.LOW, (piece.id, other.id), text, advice, (1, 20))


def _significant(text: str) -> set[str]:
    return {word[:6] for word in re.findall(r"[^\W\d_]+", text.casefold()) if len(word) > _TELLING}


def _find_doubles(first: Piece, second: Piece) -> Iterator[Objection]:
    if compare_titles(first.title, second.title) >= _ALIKE:
        text = f"{first.id} and {second.id} seem to be the same: “{second.title}”"
        advice = "drop one, or say how they differ"
        yield Objection(Kind.DUPLICATE, Severity.MEDIUM, (first.id, second.id), text, advice, (5,))
    if not _share(first, second):
        return
    theirs = set(second.criteria)
    for one, two in find_opposites([*first.criteria, *second.criteria]):
        if (one in theirs) != (two in theirs):
            text = f"{first.id} and {second.id} want opposites of the same files: “{one}” and “{two}”"
            advice = "say when each holds, or drop one"
            kind = Kind.PHYSICAL_CONTRADICTION
            yield Objection(kind, Severity.HIGH, (first.id, second.id), text, advice, SEPARATION)


def _find_mergeable(first: Piece, second: Piece, pieces: Sequence[Piece]) -> Iterator[Objection]:
    early, late = (first, second) if first.id in second.dependencies else (second, first)
    waiting = [each.id for each in pieces if early.id in each.dependencies]
    are_small = max(early.checks, late.checks) <= _SMALL
    are_alike = bool(early.key_files) and set(early.key_files) == set(late.key_files)
    if early.id in late.dependencies and waiting == [late.id] and are_small and are_alike:
        text = f"{early.id} and {late.id} are small and follow each other in the same files"
        yield Objection(Kind.MERGEABLE, Severity.LOW, (early.id, late.id), text, "make them one", (5,))


def _find_idle(piece: Piece, pieces: Sequence[Piece]) -> Iterator[Objection]:
    is_needed = any(piece.id in each.dependencies for each in pieces)
    if not is_needed and not piece.checks and not piece.key_files and len(pieces) > 1:
        text = f"{piece.id} gives nothing that can be seen: no criterion, no command, no file, and nothing waits for it"
        yield Objection(Kind.REMOVABLE, Severity.MEDIUM, (piece.id,), text, "drop it, or say what it gives", (2, 34))
