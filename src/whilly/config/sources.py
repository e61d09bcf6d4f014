"""Reads each source of settings into entries: which setting, which value, written where."""

from __future__ import annotations

import io
import json
import re
import tomllib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from dotenv.parser import parse_stream
from typing_extensions import override

from whilly.config.problems import Problem
from whilly.config.schema import Leaf, Table, find, nearest_key, nearest_variable
from whilly.config.spellings import FLAGS, FLAT, INTERNAL, NO_EFFECT, PREFIX, TEST_PREFIX, VALUES, VARIABLES
from whilly.config.toml_lines import find_lines
from whilly.config.values import is_reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


class Layer(StrEnum):
    """Where settings come from; a later one wins over an earlier one."""

    DEFAULT = "default"
    USER = "user file"
    REPOSITORY = "repository file"
    DOTENV = ".env"
    ENVIRONMENT = "environment"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value was written: its layer, and the place in it (`whilly.toml:3`, `WHILLY_MODEL`, `--model`)."""

    layer: Layer
    place: str = ""

    @override
    def __str__(self) -> str:
        return f"{self.layer} ({self.place})" if self.place else str(self.layer)


@dataclass(frozen=True, slots=True)
class Entry:
    """One setting as it was written somewhere.

    Attributes:
        is_text: it comes from where everything is text.
    """

    leaf: Leaf
    value: object
    origin: Origin
    is_text: bool = False

    def parse(self) -> object:
        """The value as the model holds it.

        Raises:
            ValueError: it does not fit.
        """
        if self.is_text and isinstance(self.value, str):
            return parse_value(self.leaf, self.value)
        return self.leaf.validate(self.value, is_text=self.is_text)


@dataclass(slots=True)
class Reading:
    """What a source holds: entries, what is wrong with it, and what is worth a warning."""

    entries: list[Entry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)


def read_toml(path: Path, layer: Layer, shown_as: str) -> Reading:
    """The settings of a TOML file; an absent file holds none."""
    unread = Reading()
    text = read_text(path, shown_as, unread.problems)
    return unread if unread.problems else read_toml_text(text, layer, shown_as)


def read_toml_text(text: str, layer: Layer, shown_as: str) -> Reading:
    """The settings of a TOML text."""
    reading = Reading()
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        place = f"{shown_as}:{line[1]}" if line else shown_as
        reading.problems.append(Problem(place, f"is not valid TOML: {error}"))
        return reading
    lines = find_lines(text)
    for path, value in _flatten(document):
        line_number = lines.get(path)
        origin = Origin(layer, f"{shown_as}:{line_number}" if line_number else shown_as)
        _take_toml(path, value, origin, reading)
    return reading


@dataclass(frozen=True, slots=True)
class Binding:
    """One statement of a `.env` file.

    Attributes:
        text: as it stands there, with the blank lines before it.
        line: on which it begins.
        name: empty for a comment.
        value: None when there is no `=`.
    """

    text: str
    line: int
    name: str
    value: str | None
    is_broken: bool


def parse_dotenv(text: str) -> Iterator[Binding]:
    """The statements of a `.env` file, in order; together their texts are the file. Nothing is expanded."""
    for binding in parse_stream(io.StringIO(text, newline="")):
        written = binding.original.string
        blank = len(written) - len(written.lstrip())
        line = binding.original.line + written[:blank].count("\n")
        yield Binding(written, line, binding.key or "", binding.value, is_broken=binding.error)


def read_dotenv(text: str, shown_as: str) -> tuple[Reading, dict[str, str]]:
    """The settings of a `.env` file's text, and all its variables."""
    reading = Reading()
    found: dict[str, Binding] = {}
    for binding in parse_dotenv(text):
        if binding.is_broken and PREFIX in binding.text:
            reading.problems.append(Problem(f"{shown_as}:{binding.line}", "cannot be read", "write NAME=value"))
        elif binding.name and binding.value is not None:
            found[binding.name] = binding
    for name in sorted(found, key=rank_variable):
        read_variable(name, found[name].value or "", Origin(Layer.DOTENV, f"{shown_as}:{found[name].line}"), reading)
    return reading, {name: binding.value or "" for name, binding in found.items()}


def read_environment(environment: Mapping[str, str]) -> Reading:
    """The settings of an environment."""
    reading = Reading()
    for name in sorted(environment, key=lambda name: (rank_variable(name), name)):
        read_variable(name, environment[name], Origin(Layer.ENVIRONMENT, name), reading)
    return reading


def rank_variable(name: str) -> int:
    """Which of several names of one setting wins: its own, then the predecessor's `WHILLY_` one, then any other."""
    return 2 if "__" in name else int(name.startswith(PREFIX))


def read_flags(flags: Mapping[str, object]) -> Reading:
    """The settings given on the command line, by key; None is a flag that was not given."""
    reading = Reading()
    for key, value in flags.items():
        leaf = find(tuple(key.split(".")))
        if not isinstance(leaf, Leaf):
            raise KeyError(key)
        if value is not None:
            reading.entries.append(Entry(leaf, value, Origin(Layer.FLAG, FLAGS.get(key, key)), is_text=True))
    return reading


def read_text(path: Path, shown_as: str, problems: list[Problem]) -> str:
    """A file's text; empty when it is absent, or when something is wrong with it."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        problems.append(Problem(shown_as, f"is not UTF-8 text (byte {error.start})", "save it as UTF-8"))
    except OSError as error:
        problems.append(Problem(shown_as, f"cannot be read: {error.strerror}"))
    return ""


def _flatten(table: Mapping[str, object], within: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    for name, value in table.items():
        path = (*within, name)
        if isinstance(value, dict) and isinstance(find(path), Table):
            yield from _flatten(value, path)
        else:
            yield path, value


def _take_toml(path: tuple[str, ...], value: object, origin: Origin, reading: Reading) -> None:
    key = ".".join(path)
    flat = path[0].upper() if len(path) == 1 and not isinstance(value, dict) else ""
    found = find(tuple(FLAT[flat].split("."))) if flat in FLAT else find(path)
    if flat in NO_EFFECT:
        reading.warnings.append(Problem(origin.place, f"{key} has no effect: {NO_EFFECT[flat]}"))
    elif found is None:
        reading.problems.append(Problem(origin.place, f"there is no setting {key}", _did_you_mean(nearest_key(key))))
    elif isinstance(found, Table):
        reading.problems.append(Problem(origin.place, f"{key}: expected a table, got {type(value).__name__}"))
    elif any(entry.leaf.key == found.key for entry in reading.entries):
        reading.problems.append(Problem(origin.place, f"{found.key} is set twice in this file, here as {key}"))
    else:
        # The predecessor took text for numbers; its own spellings still do.
        is_text = flat in FLAT and isinstance(value, str)
        value = VALUES.get(flat, {}).get(value, value) if isinstance(value, str) else value
        reading.entries.append(Entry(found, value, origin, is_text=is_text))


def read_variable(name: str, text: str, origin: Origin, reading: Reading) -> None:
    """Add to `reading` what a variable sets; one that is none of Whilly's adds nothing."""
    flat = name.removeprefix(PREFIX)
    if name in VARIABLES:
        _take_text(VARIABLES[name], name, text, origin, reading)
    elif not name.startswith(PREFIX) or name.startswith(TEST_PREFIX) or name in INTERNAL:
        return
    elif flat in NO_EFFECT:
        reading.warnings.append(Problem(origin.place, f"{name} has no effect: {NO_EFFECT[flat]}"))
    else:
        text = VALUES.get(flat, {}).get(text, text)
        _take_text(FLAT.get(flat, flat.lower().replace("__", ".")), name, text, origin, reading)


def parse_value(leaf: Leaf, text: str) -> object:
    """What a text says as the value of a setting, as the model holds it.

    A list is a JSON array, or names with commas between them, or one command.

    Raises:
        ValueError: it does not fit; the message says what was expected.
    """
    if not leaf.is_list:
        return leaf.validate(text, is_text=True)
    value: object = [part.strip() for part in text.split(",") if part.strip()]
    if text.lstrip().startswith("["):
        try:
            value = json.loads(text)
        except ValueError:
            message = f"expected {leaf.expected} as a JSON array"
            raise ValueError(message) from None
    elif leaf.expected == "a list of commands" and text.strip():
        value = [text]
    return leaf.validate(value)


def _take_text(key: str, name: str, text: str, origin: Origin, reading: Reading) -> None:
    leaf = find(tuple(key.split(".")))
    if not isinstance(leaf, Leaf):
        remedy = _did_you_mean(nearest_variable(name))
        reading.problems.append(Problem(origin.place, f"{name} is no setting", remedy))
    elif leaf.is_secret and text and not is_reference(text):
        # The variable holds the secret itself, so the setting refers to it and nothing shows it.
        reading.entries.append(Entry(leaf, f"env:{name}", origin))
    elif text or leaf.is_list or leaf.expected == "text":
        reading.entries.append(Entry(leaf, text, origin, is_text=True))
    elif leaf.expected == "true or false":
        reading.entries.append(Entry(leaf, "false", origin, is_text=True))


def _did_you_mean(name: str) -> str:
    return f"did you mean {name}?" if name else "see `whilly config show` for all settings"
