"""Where the keys of a TOML text stand."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_STATEMENT = 500


def find_lines(text: str) -> dict[tuple[str, ...], int]:
    """Every key and table header of a valid TOML text → the number of the line on which it begins.

    A statement of TOML is valid as a text of its own, so lines are put together until they are one.
    """
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    lines = text.splitlines(keepends=True)
    start = 0
    for end in range(1, len(lines) + 1):
        statement = _parse("".join(lines[start:end]))
        if statement is None and end - start < _LONGEST_STATEMENT:
            continue
        is_header = lines[start].lstrip().startswith("[")
        for path in _paths(statement or {}):
            found.setdefault(path if is_header else (*table, *path), start + 1)
            table = path if is_header else table
        start = end
    return found


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
