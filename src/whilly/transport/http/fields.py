"""Reading JSON that others made: what is absent has a default, what must be there has a clear error."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import final

from whilly.domain.errors import BadResponse

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands for a time that was not given."""
_REMEDY = "check that the address is the one of the API, and the server's version"


@final
class Fields:
    """One JSON object, or whatever came in its place.

    Args:
        data: what was parsed.
        what: where it came from, for messages: `GET https://host/path`.
    """

    def __init__(self, data: object, what: str) -> None:
        self._data = data if isinstance(data, dict) else {}
        self.what = what

    def text(self, *path: str) -> str:
        """A text, or a number as text; empty when there is none."""
        found = self._find(path)
        if isinstance(found, bool) or not isinstance(found, str | int):
            return ""
        return str(found)

    def need(self, *path: str) -> str:
        """A text, or a number as text.

        Raises:
            BadResponse: there is none.
        """
        if found := self.text(*path):
            return found
        message = f"{self.what}: the answer has no {'.'.join(path)}"
        raise BadResponse(message, remedy=_REMEDY)

    def need_text(self, *path: str) -> str:
        """A text, which may be empty.

        Raises:
            BadResponse: there is none.
        """
        found = self._find(path)
        return found if isinstance(found, str) else self.need(*path)

    def number(self, *path: str) -> int:
        """A whole number; 0 when there is none."""
        found = self._find(path)
        return found if isinstance(found, int) and not isinstance(found, bool) else 0

    def flag(self, *path: str) -> bool:
        """Whether it is true."""
        return self._find(path) is True

    def has(self, *path: str) -> bool:
        """Whether there is something that is not null."""
        return self._find(path) is not None

    def moment(self, *path: str) -> datetime:
        """A time, aware; `EPOCH` when there is none."""
        found = self._find(path)
        try:
            moment = datetime.fromisoformat(found) if isinstance(found, str) else EPOCH
        except ValueError:
            return EPOCH
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)

    def child(self, *path: str) -> Fields:
        """An object inside; an empty one when there is none."""
        return Fields(self._find(path), self.what)

    def children(self, *path: str) -> list[Fields]:
        """The objects of a list inside; none when there is no list."""
        found = self._find(path)
        return [Fields(item, self.what) for item in found] if isinstance(found, list) else []

    def texts(self, *path: str) -> tuple[str, ...]:
        """The texts of a list inside."""
        found = self._find(path)
        return tuple(item for item in found if isinstance(item, str)) if isinstance(found, list) else ()

    def raw(self, *path: str) -> object:
        """Whatever is there; None when nothing is."""
        return self._find(path)

    def _find(self, path: tuple[str, ...]) -> object:
        found: object = self._data
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        return found


def read_object(data: object, what: str) -> Fields:
    """The one object that was answered.

    Raises:
        BadResponse: it is something else.
    """
    if not isinstance(data, dict):
        message = f"{what}: the answer is not the object that it should be"
        raise BadResponse(message, remedy=_REMEDY)
    return Fields(data, what)


def read_list(data: object, what: str, *within: str) -> list[Fields]:
    """The objects of a list that was answered, either by itself or inside an object.

    Raises:
        BadResponse: there is no list.
    """
    if within:
        data = Fields(data, what).raw(*within)
    if not isinstance(data, list):
        message = f"{what}: the answer is not the list that it should be"
        raise BadResponse(message, remedy=_REMEDY)
    return [read_object(item, what) for item in data]
