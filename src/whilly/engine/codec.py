"""Domain values as JSON text and back, by their annotations."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import TypeAdapter

if TYPE_CHECKING:
    from collections.abc import Hashable

T = TypeVar("T")


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast("type[Any]", kind))


def dump(value: object) -> str:
    """`value`, a dataclass of the domain, as one line of JSON."""
    return _adapter(cast("Hashable", type(value))).dump_json(value).decode()


def load(kind: type[T], text: str) -> T:
    """The value of `kind` that `dump` wrote; fields added since then take their defaults."""
    value: T = _adapter(cast("Hashable", kind)).validate_json(text)
    return value
