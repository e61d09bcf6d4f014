"""What the gateway has to know of each model service's protocol: paths, keys, models, limits of output, and usage."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from whilly.domain.attempt import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.adapters.gateway.connection import Request

ASSUMED_OUTPUT = 32_000
"""Tokens of output that are reserved for a request which names no limit."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One protocol.

    Attributes:
        paid: POST paths that cost money.
        free: paths that cost nothing.
        limits: names of the field that bounds the output, the one to be set first.
        usage: where usage is found in an answer or an event of a stream: the path to the table.
    """

    paid: frozenset[str]
    free: frozenset[str]
    limits: tuple[str, ...]
    usage: tuple[tuple[str, ...], ...]


DIALECTS: Mapping[str, Dialect] = {
    "anthropic": Dialect(
        paid=frozenset({"/v1/messages"}),
        free=frozenset({"/v1/messages/count_tokens", "/v1/models", "/api/hello"}),
        limits=("max_tokens",),
        usage=(("usage",), ("message", "usage")),
    ),
    "openai": Dialect(
        paid=frozenset({"/v1/responses", "/v1/chat/completions"}),
        free=frozenset({"/v1/models"}),
        limits=("max_output_tokens", "max_completion_tokens", "max_tokens"),
        usage=(("usage",), ("response", "usage")),
    ),
}


def find_token(request: Request) -> str:
    """The key that a request carries."""
    scheme, _, value = request.header("authorization").partition(" ")
    return request.header("x-api-key") or (value.strip() if scheme.lower() == "bearer" else "")


def find_limit(dialect: Dialect, body: Mapping[str, Any]) -> tuple[str, int]:
    """The field that bounds the output, and the bound; what is assumed when there is none."""
    for name in dialect.limits:
        if isinstance(body.get(name), int) and not isinstance(body[name], bool) and body[name] > 0:
            return name, body[name]
    return "", ASSUMED_OUTPUT


def lower_limit(body: dict[str, Any], name: str, limit: int) -> None:
    """Bound the output of a request by less than it asked for."""
    body[name] = limit
    thinking = body.get("thinking")
    if isinstance(thinking, dict) and isinstance(thinking.get("budget_tokens"), int):
        thinking["budget_tokens"] = min(thinking["budget_tokens"], max(1024, limit // 2))


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
            self._is_stream = not self._rest.lstrip().startswith(b"{")
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
        for path in self._dialect.usage:
            table = value
            for name in path:
                table = table.get(name) if isinstance(table, dict) else None
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


def _make_usage(found: Mapping[str, int]) -> Usage:
    cached = found.get("cached_tokens", 0)
    return Usage(
        # OpenAI counts cached tokens among those of the input; Anthropic does not.
        input_tokens=max(0, found.get("input_tokens", found.get("prompt_tokens", 0)) - cached),
        output_tokens=found.get("output_tokens", found.get("completion_tokens", 0)),
        cache_read_tokens=found.get("cache_read_input_tokens", 0) + cached,
        cache_write_tokens=found.get("cache_creation_input_tokens", 0),
        turns=1,
    )
