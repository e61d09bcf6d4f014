"""What a server answered, and what its errors say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

LONGEST_MESSAGE = 300
"""Characters of a server's own words in an error of ours."""

_TITLE = re.compile(r"<(?:title|h1)[^>]*>(.*?)</", re.IGNORECASE | re.DOTALL)


class NotJson(ValueError):
    """The body is not what was agreed; the message says in a few words what it is instead."""


@final
@dataclass(frozen=True, slots=True)
class Answer:
    """One answer.

    Attributes:
        headers: names in lower case.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def is_success(self) -> bool:
        """Whether the server did what was asked."""
        return 200 <= self.status < 300  # noqa: PLR2004  (the class of successes)

    @property
    def text(self) -> str:
        """The body as text; what is no UTF-8 is replaced."""
        return self.body.decode("utf-8", "replace")

    def parse(self) -> object:
        """The body as JSON; None for an empty one.

        Raises:
            NotJson: it is something else.
        """
        if not self.body.strip():
            return None
        try:
            data: object = json.loads(self.body)
        except RecursionError:
            message = "JSON that is nested too deeply"
            raise NotJson(message) from None
        except ValueError as error:
            raise NotJson(self._explain(error)) from None
        return data

    def _explain(self, error: ValueError) -> str:
        start = self.text[:200].lstrip()
        if start.startswith("<"):
            return f"an HTML page ({shorten(title)})" if (title := self._title()) else "an HTML page"
        if start[:1] in "{[" and isinstance(error, json.JSONDecodeError):
            return f"JSON that breaks off or is broken at byte {error.pos} of {len(self.body)}"
        return f"no JSON: {shorten(start)}"

    def _title(self) -> str:
        found = _TITLE.search(self.text[:10_000])
        return found[1] if found else ""

    @property
    def message(self) -> str:
        """What the server says about an error, on one line; empty when it says nothing."""
        try:
            data = self.parse()
        except NotJson as error:
            return str(error)
        return shorten(" · ".join(part for part in _collect(data) if part))


def _collect(data: object) -> list[str]:
    """The sentences in the error bodies of the forges and trackers, whatever they call them."""
    if isinstance(data, str):
        return [data]
    if isinstance(data, list):
        return [sentence for item in data for sentence in _collect(item)]
    if not isinstance(data, dict):
        return []
    found: list[str] = []
    for name in ("message", "error", "error_description", "detail", "errorMessages"):
        found += _collect(data.get(name))
    errors = data.get("errors")
    if isinstance(errors, dict):
        # Jira and Django: field → what is wrong with it.
        found += [f"{name}: {' '.join(_collect(value))}" for name, value in errors.items()]
    elif isinstance(errors, list):
        found += [_describe(error) for error in errors]
    return list(dict.fromkeys(found))


def _describe(error: object) -> str:
    """One entry of GitHub's list of errors, which often has a code and no message."""
    if isinstance(error, dict) and "message" not in error:
        return " ".join(str(error[name]) for name in ("resource", "field", "code") if name in error)
    return " ".join(_collect(error))


def shorten(text: str) -> str:
    """A text on one line, without control characters, at most `LONGEST_MESSAGE` characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= LONGEST_MESSAGE else f"{line[: LONGEST_MESSAGE - 1]}…"
