"""Domain values as JSON text and back, by their annotations."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

if TYPE_CHECKING:
    from collections.abc import Hashable

T = TypeVar("T")


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast("type[Any]", kind))


def dump(value: object) -> str:
    """`value`, a dataclass of the domain, as one line of JSON."""
    adapter = _adapter(cast("Hashable", type(value)))
    try:
        return adapter.dump_json(value).decode()
    except PydanticSerializationError:
        # A path that is not UTF-8 comes as surrogates, which the quick way refuses and JSON can hold.
        return json.dumps(adapter.dump_python(value, mode="json"))


def load(kind: type[T], text: str) -> T:
    """The value of `kind` that `dump` wrote; fields added since then take their defaults."""
    adapter = _adapter(cast("Hashable", kind))
    try:
        value: T = adapter.validate_json(text)
    except ValidationError:
        if "\\ud" not in text:
            raise
        value = adapter.validate_python(json.loads(text))
    return value


def make_plain(text: str) -> str:
    """`text` as every database can store it: NUL and lone surrogates are written out."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()
