"""What fits a setting, in words for messages and for the reference."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Literal, get_args, get_origin

from pydantic import BaseModel

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_WORDS: dict[object, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    Decimal: "a number",
    str: "text",
}


def describe_type(info: FieldInfo) -> str:
    """What fits a field: `a whole number from 1 to 1000`, `a list of texts`, `one of "a", "b"`."""
    annotation = info.annotation
    if get_origin(annotation) is Literal:
        return "one of " + ", ".join(f'"{choice}"' for choice in get_args(annotation))
    if get_origin(annotation) is tuple:
        return f"a list of {_plural(get_args(annotation)[0])}"
    return _WORDS.get(annotation, "a table") + _bounds(info)


def _plural(item: object) -> str:
    plain = get_args(item)[0] if get_origin(item) is Annotated else item
    if isinstance(plain, type) and issubclass(plain, BaseModel):
        return "commands"
    return "whole numbers" if plain is int else "texts"


def _bounds(info: FieldInfo) -> str:
    least = next((rule.ge for rule in info.metadata if getattr(rule, "ge", None) is not None), None)
    most = next((rule.le for rule in info.metadata if getattr(rule, "le", None) is not None), None)
    if least is not None and most is not None and most < 10**9:
        return f" from {least} to {most}"
    return "" if least is None else f", {least} or more"
