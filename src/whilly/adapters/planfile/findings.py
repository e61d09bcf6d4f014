"""Collects what is wrong with a document, each thing at its place."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, final

from whilly.adapters.planfile.problem import Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Collection

    from whilly.adapters.planfile.document import Document

_SHOWN_LENGTH: Final = 60
_MAX_COMPARISONS: Final = 60_000


@final
class Findings:
    """The problems of one document.

    Args:
        file: how to call the document.
        document: what the offsets belong to.
    """

    def __init__(self, file: str, document: Document) -> None:
        self._file = file
        self._document = document
        self._found: list[tuple[int, Problem]] = []
        self._comparisons = 0

    @property
    def has_errors(self) -> bool:
        """Whether anything was found that stops the plan."""
        return any(problem.is_error for _, problem in self._found)

    def error(self, offset: int, what: str, why: str, remedy: str) -> None:
        """Report what stops the plan."""
        self._add(offset, what, why, remedy, Severity.ERROR)

    def warning(self, offset: int, what: str, why: str, remedy: str) -> None:
        """Report what does not stop the plan but is likely not meant."""
        self._add(offset, what, why, remedy, Severity.WARNING)

    def place(self, offset: int) -> str:
        """An offset as people read it."""
        line, column = self._document.position(offset)
        return f"line {line}, column {column}"

    def nearest(self, word: str, words: Collection[str]) -> str:
        """The word that was likely meant; empty when none is near, or when too much has been compared already."""
        self._comparisons += len(words)
        if self._comparisons > _MAX_COMPARISONS or len(word) > _SHOWN_LENGTH:
            return ""
        known = list(words)
        matches = get_close_matches(word.casefold(), [each.casefold() for each in known], n=1)
        return next((each for each in known if each.casefold() in matches), "")

    def in_order(self) -> tuple[Problem, ...]:
        """All problems in the order of the file."""
        return tuple(problem for _, problem in sorted(self._found, key=lambda each: each[0]))

    def _add(self, offset: int, what: str, why: str, remedy: str, severity: Severity) -> None:
        line, column = self._document.position(offset)
        self._found.append((offset, Problem(self._file, line, column, what, why, remedy, severity)))


def shown(text: str) -> str:
    """Somebody's text, short and harmless enough for a message in one line."""
    plain = printable(text)
    return plain if len(plain) <= _SHOWN_LENGTH else f"{plain[: _SHOWN_LENGTH - 1]}…"


def printable(text: str) -> str:
    """Somebody's text without what could turn or break a terminal's line."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
