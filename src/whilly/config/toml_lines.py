"""Where the keys of a TOML text stand."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_CLOSING = ("]", "}", '"""', "'''")
_MOST_TRIES = 200
"""For one statement; after that its end is given up, and the lines behind it are not found."""


def find_lines(text: str) -> dict[tuple[str, ...], int]:
    """Every key and table header of a valid TOML text → the number of the line on which it begins."""
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for line, is_header, statement in _split(text.replace("\r\n", "\n").split("\n")):
        for path in _paths(statement):
            found.setdefault(path if is_header else (*table, *path), line)
            table = path if is_header else table
    return found


def _split(lines: list[str]) -> Iterator[tuple[int, bool, dict[str, object]]]:
    """The statements: line, whether it is a table's header, and what it says by itself.

    A statement of TOML is valid as a text of its own, so lines are put together until they are one.
    """
    start = tries = 0
    for end, last in enumerate(lines, start=1):
        if end - start > 1 and not any(mark in last for mark in _CLOSING):
            continue
        statement = _parse("\n".join(lines[start:end]))
        tries += 1
        if statement is not None:
            yield start + 1, lines[start].lstrip().startswith("["), statement
            start, tries = end, 0
        elif tries > _MOST_TRIES:
            return


def _parse(statement: str) -> dict[str, object] | None:
    try:
        return tomllib.loads(statement)
    except tomllib.TOMLDecodeError:
        return None


def _paths(value: object, within: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """All paths in a parsed statement, outer ones first."""
    if isinstance(value, dict):
        for key, inner in value.items():
            path = (*within, key)
            yield path
            yield from _paths(inner, path)
    elif isinstance(value, list):
        for inner in value:
            yield from _paths(inner, within)
