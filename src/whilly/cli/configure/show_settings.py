"""Settings for people and for programs, without the secrets in them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from whilly.config.edit import render_value, to_toml
from whilly.config.schema import ANY_NAME, Leaf, find, leaves
from whilly.config.values import is_reference
from whilly.domain.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from whilly.config.layers import Loaded


def read_value(loaded: Loaded, leaf: Leaf) -> object:
    """The value of a setting, fit to be shown."""
    value: object = loaded.settings
    for name in leaf.path:
        value = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
    value = leaf.default() if value is None else value
    return _redacted(value) if leaf.is_sensitive and isinstance(value, str) else value


def render_settings(loaded: Loaded, *, with_origin: bool) -> Iterator[str]:
    """One line for each setting: `run.parallel = 3`, and where its value comes from."""
    for leaf in set_leaves(loaded):
        origin = f"  # {loaded.origin(leaf.key)}" if with_origin else ""
        yield f"{leaf.key} = {render_value(read_value(loaded, leaf))}{origin}"


def settings_as_json(loaded: Loaded, files: dict[str, Path]) -> dict[str, object]:
    """The same for programs: values and origins by key, the files, the warnings."""
    shown = list(set_leaves(loaded))
    return {
        "settings": {leaf.key: to_toml(read_value(loaded, leaf)) for leaf in shown},
        "origins": {leaf.key: str(loaded.origin(leaf.key)) for leaf in shown},
        "files": {name: {"path": str(path), "exists": path.exists()} for name, path in files.items()},
        "warnings": [str(warning) for warning in loaded.warnings],
    }


def set_leaves(loaded: Loaded) -> Iterator[Leaf]:
    """Every setting with a name of its own, and under names of the user's own those that are set."""
    own = sorted(key for key in loaded.origins if not _is_fixed(key))
    yield from (leaf for leaf in leaves() if ANY_NAME not in leaf.path)
    for key in own:
        leaf = find(tuple(key.split(".")))
        if isinstance(leaf, Leaf):
            yield leaf


def _is_fixed(key: str) -> bool:
    return any(leaf.key == key for leaf in leaves())


def _redacted(value: str) -> str:
    if not value or is_reference(value):
        return value
    password = urlsplit(value).password
    return value.replace(f":{password}@", f":{Secret(password)}@") if password else value
