"""The settings' model, walked: what a key means, what fits there, and every setting there is."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, get_args, get_origin

from pydantic import ValidationError

from whilly.config.describe import describe_type
from whilly.config.settings import Settings
from whilly.config.spellings import FLAT, PREFIX, VARIABLES, variable
from whilly.config.tables.fields import Section
from whilly.config.values import checked_reference

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

Path = tuple[str, ...]
ANY_NAME = "NAME"
"""Stands for a name of the user's own in the path of a listed setting."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One setting.

    Attributes:
        path: its key, part by part.
        section: the model of the table that holds it.
        field: its name in that model.
        entry: the key inside it when the setting is one entry of a mapping; empty otherwise.
    """

    path: Path
    section: type[Section]
    field: str
    entry: str = ""

    @property
    def key(self) -> str:
        """Its key as people write it: `run.parallel`."""
        return ".".join(self.path)

    @property
    def info(self) -> FieldInfo:
        """What the model says about it."""
        return self.section.model_fields[self.field]

    @property
    def is_sensitive(self) -> bool:
        """Whether its value may be or hold a secret, so that it is not shown as it stands."""
        extra = self.info.json_schema_extra
        return isinstance(extra, dict) and bool(extra.get("sensitive"))

    @property
    def is_list(self) -> bool:
        """Whether its value is a list."""
        return not self.entry and get_origin(self.info.annotation) is tuple

    @property
    def is_secret(self) -> bool:
        """Whether its value is a reference to a secret, and nothing else."""
        return any(getattr(rule, "func", None) is checked_reference for rule in self.info.metadata)

    @property
    def expected(self) -> str:
        """What fits here, for people: `a whole number from 1 to 1000`."""
        return "text" if self.entry else describe_type(self.info)

    def default(self) -> object:
        """Its value when nobody sets it; None for an entry of a mapping."""
        return None if self.entry else self.info.get_default(call_default_factory=True)

    def validate(self, value: object, *, is_text: bool = False) -> object:
        """The value as the model holds it.

        Args:
            value: what was written; with the types of TOML unless `is_text`.
            is_text: it comes from where everything is text, so `3` may mean the number.

        Raises:
            ValueError: it does not fit; the message says what was expected, and never a sensitive value.
        """
        wrapped = {self.field: {self.entry: value} if self.entry else value}
        try:
            table = (
                self.section.model_validate(wrapped)
                if is_text
                # TOML has the types of JSON and lists instead of tuples, so the strict rules of JSON are those of TOML.
                else self.section.model_validate_json(json.dumps(wrapped), strict=True)
            )
        except ValidationError as error:
            raise ValueError(self._explain(value, error)) from None
        except TypeError:
            message = f"expected {self.expected}, not a date or a time"
            raise ValueError(message) from None
        held = getattr(table, self.field)
        return held[self.entry] if self.entry else held

    def _explain(self, value: object, error: ValidationError) -> str:
        first = error.errors(include_url=False, include_input=False)[0]
        position = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"][1:])
        if first["type"] == "value_error":
            return f"{position.lstrip('.')} {first['ctx']['error']}".strip()
        got = "" if self.is_sensitive else f", got {shorten(value)}"
        return f"expected {self.expected}{got}" + (f" (at {position.lstrip('.')})" if position else "")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of settings.

    Attributes:
        section: its model; None when its keys are names of the user's own.
    """

    section: type[Section] | None


def shorten(value: object) -> str:
    """A value for a message: on one line, at most 60 characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:59]}…"  # noqa: PLR2004  (as the docstring says)


def find(path: Path, section: type[Section] = Settings, within: Path = ()) -> Leaf | Table | None:
    """What a key means; None when there is no such key."""
    if not path:
        return Table(section)
    name, *rest = path
    info = section.model_fields.get(name)
    here = (*within, name)
    if info is None:
        return None
    if inner := _section(info.annotation):
        return find(tuple(rest), inner, here)
    if get_origin(info.annotation) is not Mapping:
        return None if rest else Leaf(here, section, name)
    return _find_in_mapping(info, tuple(rest), section, here)


def _find_in_mapping(info: FieldInfo, rest: Path, section: type[Section], here: Path) -> Leaf | Table | None:
    if not rest:
        return Table(None)
    if inner := _section(get_args(info.annotation)[1]):
        return find(rest[1:], inner, (*here, rest[0]))
    return Leaf((*here, rest[0]), section, here[-1], entry=rest[0]) if len(rest) == 1 else None


def leaves(section: type[Section] = Settings, within: Path = ()) -> Iterator[Leaf]:
    """Every setting, in the model's order; `NAME` stands for names of the user's own."""
    for name, info in section.model_fields.items():
        here = (*within, name)
        is_mapping = get_origin(info.annotation) is Mapping
        if inner := _section(info.annotation):
            yield from leaves(inner, here)
        elif is_mapping and (inner := _section(get_args(info.annotation)[1])):
            yield from leaves(inner, (*here, ANY_NAME))
        elif is_mapping:
            yield Leaf((*here, ANY_NAME), section, name, entry=ANY_NAME)
        else:
            yield Leaf(here, section, name)


def nearest_key(key: str) -> str:
    """The setting whose key is most like this one; empty when none is like it."""
    matches = difflib.get_close_matches(key.lower(), known_keys(), n=1, cutoff=0.6)
    if matches:
        return matches[0]
    last = key.lower().rpartition(".")[2]
    return next((known for known in known_keys() if known.rpartition(".")[2] == last), "")


def nearest_variable(name: str) -> str:
    """The variable most like this one; empty when none is like it."""
    # Compared without the prefix: it alone makes any two of them alike.
    names = {known.removeprefix(PREFIX): known for known in known_variables()}
    matches = difflib.get_close_matches(name.removeprefix(PREFIX), names, n=1, cutoff=0.6)
    return names[matches[0]] if matches else ""


@cache
def known_keys() -> tuple[str, ...]:
    """The keys of all settings, and the tables above them."""
    keys = [leaf.key for leaf in leaves()]
    return (*keys, *Settings.model_fields)


def known_variables() -> list[str]:
    """The names of all variables that are settings."""
    own = [variable(leaf.key) for leaf in leaves()]
    return [*own, *(PREFIX + name for name in FLAT), *VARIABLES]


def _section(annotation: object) -> type[Section] | None:
    return annotation if isinstance(annotation, type) and issubclass(annotation, Section) else None
