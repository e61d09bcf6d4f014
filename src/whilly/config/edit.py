"""Changes to a TOML settings file that leave everything else in it as it was, comments included."""

from __future__ import annotations

import contextlib
import os
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomlkit

from whilly.config.layers import REPOSITORY_FILE, find_problems
from whilly.config.problems import InvalidConfiguration
from whilly.config.settings import CommandTable
from whilly.config.sources import Layer, read_toml_text
from whilly.config.spellings import FLAT
from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from whilly.config.schema import Leaf


def set_values(text: str, changes: Sequence[tuple[Leaf, object]]) -> str:
    """The text of a settings file with some settings changed.

    Args:
        text: the file's text; empty for a new one.
        changes: settings with their values, as the model holds them.

    Raises:
        InvalidConfiguration: the file is no TOML, or the changes would make it invalid.
        ConfigError: a key cannot be written in this file as it is laid out.
    """
    before = find_problems(text)
    if any("is not valid TOML" in problem.message for problem in before):
        raise InvalidConfiguration(before)
    after = text
    for leaf, value in changes:
        after = _set_value(after, leaf, value)
    known = {problem.message for problem in before}
    if new := [problem for problem in find_problems(after) if problem.message not in known]:
        raise InvalidConfiguration(new)
    return after


def find_changes(text: str, wanted: Sequence[tuple[Leaf, object]]) -> list[tuple[Leaf, object]]:
    """Those of the wanted values that a settings file does not have yet."""
    has = {}
    for entry in read_toml_text(text, Layer.REPOSITORY, REPOSITORY_FILE).entries:
        with contextlib.suppress(ValueError):
            has[entry.leaf.key] = entry.parse()
    return [(leaf, value) for leaf, value in wanted if leaf.key not in has or has[leaf.key] != value]


def _set_value(text: str, leaf: Leaf, value: object) -> str:
    document: Any = tomlkit.parse(text)
    for name in [name for name in document if FLAT.get(name.upper()) == leaf.key]:
        # The predecessor's spelling of the same setting: two in one file would contradict each other.
        del document[name]
    try:
        _plant(document, leaf.path, to_toml(value))
        after = tomlkit.dumps(document)
        has_arrived = _pick(tomllib.loads(after), leaf.path) == to_toml(value)
    except (tomlkit.exceptions.TOMLKitError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise _unwritable(leaf) from error
    if not has_arrived:
        raise _unwritable(leaf)
    return after


def to_toml(value: object) -> Any:  # noqa: ANN401  (TOML has many types)
    """A setting's value in the types of TOML."""
    match value:
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case CommandTable():
            return value.run if value.accept == (0,) else {"run": value.run, "accept": list(value.accept)}
        case tuple() | list():
            return [to_toml(item) for item in value]
        case Mapping():
            return {key: to_toml(item) for key, item in value.items()}
        case _:
            return value


def render_value(value: object) -> str:
    """A setting's value as it is written in TOML, on one line."""
    match to_toml(value):
        case dict() as table:
            return _inline(table)
        case list() as items:
            return "[" + ", ".join(render_value(item) for item in items) + "]"
        case plain:
            return str(tomlkit.item(plain).as_string())


def write_atomically(path: Path, text: str) -> None:
    """Put the text into the file, whole or not at all; a link stays a link, and permissions stay as they were.

    Raises:
        ConfigError: it cannot be written.
    """
    # Where links lead in a circle, what follows says so.
    target = Path(os.path.realpath(path))
    temporary: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o644)
        temporary.replace(target)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        message = f"{path} cannot be written: {error.strerror}"
        raise ConfigError(message, remedy="check its permissions and the disk") from error


def _plant(document: Any, path: tuple[str, ...], value: object) -> None:  # noqa: ANN401  (tomlkit's containers)
    table = document
    for depth, name in enumerate(path[:-1]):
        if name not in table:
            table[name] = tomlkit.table(is_super_table=depth < len(path) - 2)
        table = table[name]
    table[path[-1]] = value


def _pick(document: Any, path: tuple[str, ...]) -> object:  # noqa: ANN401  (a parsed document)
    for name in path:
        document = document[name]
    return document


def _inline(table: Mapping[str, object]) -> str:
    return (
        "{" + ", ".join(f"{tomlkit.key(key).as_string()} = {render_value(item)}" for key, item in table.items()) + "}"
    )


def _unwritable(leaf: Leaf) -> ConfigError:
    return ConfigError(
        f"{leaf.key} cannot be set in this file as it is laid out", remedy="edit it: `whilly config edit`"
    )
