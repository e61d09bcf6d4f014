"""What the gateway has to know of each model service's protocol: paths, keys, models, limits of output, and usage."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final
from urllib.parse import unquote_plus

from whilly.domain.attempt import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.adapters.gateway.connection import Request

ASSUMED_OUTPUT = 32_000
"""Tokens of output that are reserved for a request which names no limit."""
LEAST_THOUGHTS = 1024
KEY_HEADERS = ("x-api-key", "x-goog-api-key")
"""Where a key may be besides `authorization`, in lower case."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One protocol.

    Attributes:
        base: what stands before every path, at this gateway as at the service.
        paid: POST paths that cost money; a group `model` names it where the body does not.
        free: paths that cost nothing.
        limits: the fields that bound the output, each as the path to it, the one to be set first.
        thoughts: the field that bounds what is thought before, as the path to it.
        usage: where usage is found in an answer or an event of a stream: the path to the table.
        parameters: names in a query that could hold a key.
    """

    base: str
    paid: re.Pattern[str]
    free: re.Pattern[str]
    limits: tuple[tuple[str, ...], ...]
    usage: tuple[tuple[str, ...], ...]
    thoughts: tuple[str, ...] = ()
    parameters: frozenset[str] = frozenset()


DIALECTS: Mapping[str, Dialect] = {
    "anthropic": Dialect(
        base="/v1",
        paid=re.compile(r"/v1/messages"),
        free=re.compile(r"/v1/messages/count_tokens|/v1/models|/api/hello"),
        limits=(("max_tokens",),),
        usage=(("usage",), ("message", "usage")),
        thoughts=("thinking", "budget_tokens"),
    ),
    "openai": Dialect(
        base="/v1",
        paid=re.compile(r"/v1/responses|/v1/chat/completions"),
        free=re.compile(r"/v1/models"),
        limits=(("max_output_tokens",), ("max_completion_tokens",), ("max_tokens",)),
        usage=(("usage",), ("response", "usage")),
    ),
    "google": Dialect(
        base="/v1beta",
        paid=re.compile(r"/v1(?:beta)?/models/(?P<model>[\w.-]+):(?:generateContent|streamGenerateContent)"),
        free=re.compile(r"/v1(?:beta)?/models(?:/[\w.-]+(?::countTokens)?)?"),
        limits=(("generationConfig", "maxOutputTokens"),),
        usage=(("usageMetadata",),),
        thoughts=("generationConfig", "thinkingConfig", "thinkingBudget"),
        parameters=frozenset({"key", "access_token"}),
    ),
}
"""By name. The paths are matched whole."""

_INPUT = ("input_tokens", "prompt_tokens", "promptTokenCount", "toolUsePromptTokenCount")
_OUTPUT = ("output_tokens", "completion_tokens", "candidatesTokenCount", "thoughtsTokenCount")
"""What the protocols call tokens; none of them uses the words of another."""


def find_token(request: Request) -> str:
    """The key that a request carries."""
    scheme, _, value = request.header("authorization").partition(" ")
    named = next(filter(None, map(request.header, KEY_HEADERS)), "")
    return named or (value.strip() if scheme.lower() == "bearer" else "")


def place_key(request: Request, key: str) -> tuple[str, str]:
    """The header that carries the real key, in the way in which the request carried its token."""
    named = next((name for name in KEY_HEADERS if request.header(name)), "")
    return (named, key) if named else ("authorization", f"Bearer {key}")


def clean_target(dialect: Dialect, target: str) -> str:
    """A path and its query without what could be another key."""
    path, mark, query = target.partition("?")
    kept = [pair for pair in query.split("&") if unquote_plus(pair.partition("=")[0]) not in dialect.parameters]
    return path + (mark + "&".join(kept) if any(kept) else "")


def find_limit(dialect: Dialect, body: Mapping[str, Any]) -> tuple[tuple[str, ...], int]:
    """The field that bounds the output, and the bound; what is assumed when there is none."""
    for path in dialect.limits:
        value = _find(body, path)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return path, value
    return dialect.limits[0], ASSUMED_OUTPUT


def lower_limit(dialect: Dialect, body: dict[str, Any], path: tuple[str, ...], limit: int) -> None:
    """Bound the output of a request by less than it asked for."""
    _set(body, path, limit)
    thoughts = _find(body, dialect.thoughts)
    if isinstance(thoughts, int):
        _set(body, dialect.thoughts, min(thoughts, max(LEAST_THOUGHTS, limit // 2)))


@final
class Meter:
    """Reads the usage out of an answer as it passes by, whole or as a stream of events."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._rest = bytearray()
        self._is_stream: bool | None = None
        self._found: dict[str, int] = {}

    def feed(self, data: bytes) -> None:
        """The next bytes of the body."""
        self._rest += data
        if self._is_stream is None:
            # Google streams a list unless it is asked for events.
            self._is_stream = not self._rest.lstrip().startswith((b"{", b"["))
        if self._is_stream:
            *lines, rest = self._rest.split(b"\n")
            self._rest = bytearray(rest)
            for line in lines:
                if line.startswith(b"data:"):
                    self._look(bytes(line[5:]))

    def usage(self) -> Usage | None:
        """What was used; None when nothing was said about it."""
        if not self._is_stream:
            self._look(bytes(self._rest))
        if not self._found:
            return None
        return _make_usage(self._found)

    def _look(self, text: bytes) -> None:
        try:
            value = json.loads(text)
        except ValueError:
            return
        for each in value if isinstance(value, list) else [value]:
            for path in self._dialect.usage:
                table = _find(each, path)
                if isinstance(table, dict):
                    self._take(table)

    def _take(self, table: Mapping[str, Any]) -> None:
        """Later events repeat and correct what earlier ones said."""
        flat = {name: value for name, value in table.items() if isinstance(value, int)}
        for name in ("input_tokens_details", "prompt_tokens_details"):
            details = table.get(name)
            if isinstance(details, dict) and isinstance(details.get("cached_tokens"), int):
                flat["cached_tokens"] = details["cached_tokens"]
        self._found |= flat


def _find(value: object, path: tuple[str, ...]) -> object:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if path else None


def _set(body: dict[str, Any], path: tuple[str, ...], value: int) -> None:
    table = body
    for name in path[:-1]:
        inner = table.get(name)
        table[name] = inner if isinstance(inner, dict) else {}
        table = table[name]
    table[path[-1]] = value


def _make_usage(found: Mapping[str, int]) -> Usage:
    def add(*names: str) -> int:
        return sum(found.get(name, 0) for name in names)

    # OpenAI and Google count cached tokens among those of the input; Anthropic does not.
    cached = add("cached_tokens", "cachedContentTokenCount")
    return Usage(
        input_tokens=max(0, add(*_INPUT) - cached),
        output_tokens=add(*_OUTPUT),
        cache_read_tokens=found.get("cache_read_input_tokens", 0) + cached,
        cache_write_tokens=found.get("cache_creation_input_tokens", 0),
        turns=1,
    )
