"""JSON that a model wrote, read without any goodwill: it is exactly what was asked for, or it is nothing."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Collection

MAX_LENGTH: Final = 100_000
MAX_ENTRIES: Final = 20
MAX_TEXT: Final = 500

_FENCED = re.compile(r"\s*```(?:json)?[ \t]*\n(?P<inside>.*?)\n?```\s*", re.DOTALL)


class _RefusedError(ValueError):
    """Why a text is not what was asked for."""


def read_object(text: str, keys: Collection[str]) -> dict[str, Any] | str:
    """The one object in the text, with exactly these keys; otherwise the reason why it is none.

    A block of code around it is allowed; words around it, keys that occur twice, constants that JSON does not know, and
    other values than an object are not.
    """
    try:
        value = _load(text)
    except _RefusedError as error:
        return str(error)
    except (ValueError, RecursionError):
        return "it is no JSON"
    if not isinstance(value, dict):
        return "it is no object"
    if value.keys() != set(keys):
        return f"its keys are {', '.join(sorted(value)) or 'none'}, not {', '.join(sorted(keys))}"
    return value


def _load(text: str) -> object:
    if len(text) > MAX_LENGTH:
        message = f"it has {len(text)} characters, more than {MAX_LENGTH}"
        raise _RefusedError(message)
    fenced = _FENCED.fullmatch(text)
    inside = fenced["inside"] if fenced else text
    return json.loads(inside, object_pairs_hook=_read_pairs, parse_constant=_refuse_constant)


def _read_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        message = f"the key {twice[:40]!r} occurs twice"
        raise _RefusedError(message)
    return dict(pairs)


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is no value of JSON"
    raise _RefusedError(message)


def is_text(value: object, *, may_be_empty: bool = False) -> bool:
    """Whether it is a text of a size that people read."""
    return isinstance(value, str) and len(value) <= MAX_TEXT and (may_be_empty or bool(value.strip()))
