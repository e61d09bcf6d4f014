"""The first `whilly.toml` of a repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.config.edit import render_value
from whilly.config.schema import Leaf, find
from whilly.config.settings import CommandTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whilly.application.detect_profile import Profile
    from whilly.domain.change import CheckCommand

_SHOWN = (
    "repository.target",
    "run.parallel",
    "run.max_attempts",
    "run.budget_usd",
    "run.timeout_s",
    "agent.name",
    "agent.model",
    "agent.attempt_timeout_s",
    "profile.allowed_paths",
    "profile.forbidden_paths",
)
"""Settings that the file shows with their defaults, as comments."""

_WIDTH = 100


def detected_values(base_branch: str, profile: Profile) -> list[tuple[Leaf, object]]:
    """The settings that are read from a repository, as the model holds them."""
    values: dict[str, object] = {
        "repository.base_branch": base_branch,
        "profile.setup": _tables(profile.setup),
        "profile.verify": _tables(profile.verify),
        "profile.repair_verify": _tables(profile.repair_verify),
    }
    return [(_require(key), value) for key, value in values.items()]


def render_starter(base_branch: str, profile: Profile) -> str:
    """The text of the file: what was detected, and the most wanted other settings as comments."""
    detected = {leaf.key: value for leaf, value in detected_values(base_branch, profile)}
    lines = [
        "# Whilly's settings for this repository.",
        "# `whilly config show --origin` lists every setting, its value and where it comes from.",
    ]
    for section in ("repository", "run", "agent", "profile"):
        lines += ["", f"[{section}]"]
        if section == "profile" and profile.name:
            lines.append(f"# Found here: {profile.name}.")
        for key in (*detected, *_SHOWN):
            if key.startswith(f"{section}."):
                lines += _explain(_require(key))
                lines += _render(_require(key), detected, profile.suggestions)
    return "\n".join(lines) + "\n"


def _render(leaf: Leaf, detected: dict[str, object], suggestions: Sequence[str]) -> Iterator[str]:
    name = leaf.path[-1]
    if leaf.key not in detected:
        yield f"# {name} = {render_value(leaf.default())}"
        return
    value = detected[leaf.key]
    if not isinstance(value, tuple) or (not value and leaf.key != "profile.verify"):
        yield f"{name} = {render_value(value)}"
        return
    yield f"{name} = ["
    yield from (f"    {render_value(item)}," for item in value)
    if leaf.key == "profile.verify":
        yield from (f"    # also here: {render_value(command)}," for command in suggestions)
    yield "]"


def _explain(leaf: Leaf) -> Iterator[str]:
    line = "#"
    for word in (leaf.info.description or "").split():
        if len(line) + len(word) >= _WIDTH:
            yield line
            line = "#"
        line = f"{line} {word}"
    yield line


def _tables(commands: Sequence[CheckCommand]) -> tuple[CommandTable, ...]:
    return tuple(CommandTable(run=command.run, accept=command.accept) for command in commands)


def _require(key: str) -> Leaf:
    leaf = find(tuple(key.split(".")))
    if not isinstance(leaf, Leaf):
        raise KeyError(key)
    return leaf
