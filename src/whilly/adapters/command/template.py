"""Command lines as data: `["tool", ["--model", "{model}"], "{prompt_file}"]`."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PLACEHOLDERS = {
    "program": "the resolved path of the program",
    "prompt": "the prompt itself; it is then not written to standard input",
    "prompt_file": "path of a file with the prompt",
    "workspace": "path of the checkout to work in",
    "workspace_toml": "the same as text in TOML or JSON, with its quotes",
    "home": "path of the attempt's private directory",
    "run_home": "path of a private directory that the attempts of a run share",
    "id": "the attempt's id",
    "model": "the model; may be empty",
    "session": "id of the session, also when it is resumed",
    "new_session": "id of the session when it is a new one, else empty",
    "resume": "id of the session when it is resumed, else empty",
    "max_turns": "the limit of turns; may be empty",
    "max_cost": "the limit of cost in US dollars; may be empty",
    "login_mode": "what `login_modes` has for the login in use",
    "permission": "what `permissions` has for the mode in force",
}
"""Every name that may stand in braces, and what it means."""

Argument = str | tuple[str, ...]
"""One argument, or several that stand or fall together: they are left out when a placeholder in them is empty."""

_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


def find_placeholders(argv: Sequence[Argument]) -> frozenset[str]:
    """The names in braces.

    Raises:
        ConfigError: a name is not known, or a brace has no partner.
    """
    names = set()
    for text in _flatten(argv):
        for token in _TOKEN.finditer(text):
            name = token.group(1)
            if name in PLACEHOLDERS:
                names.add(name)
            elif token.group() not in {"{{", "}}"}:
                raise _complain(text, name)
    return frozenset(names)


def render_argv(argv: Sequence[Argument], values: Mapping[str, str]) -> tuple[str, ...]:
    """The arguments with the values in place; never a shell line, so nothing in a value is special."""

    def fill(text: str) -> str:
        return _TOKEN.sub(lambda token: values[token.group(1)] if token.group(1) else token.group()[0], text)

    rendered: list[str] = []
    for argument in argv:
        group = (argument,) if isinstance(argument, str) else argument
        is_optional = not isinstance(argument, str)
        if is_optional and any(not values[name] for name in find_placeholders(group)):
            continue
        rendered.extend(fill(text) for text in group)
    return tuple(rendered)


def _flatten(argv: Sequence[Argument]) -> Iterator[str]:
    for argument in argv:
        if isinstance(argument, str):
            yield argument
        else:
            yield from argument


def _complain(text: str, name: str | None) -> ConfigError:
    if name is None:
        return ConfigError(f"a brace without its partner in {text!r}", remedy="write {{ or }} for a brace itself")
    near = get_close_matches(name, PLACEHOLDERS, n=1, cutoff=0.5)
    known = ", ".join(f"{{{each}}}" for each in PLACEHOLDERS)
    hint = f"did you mean {{{near[0]}}}? " if near else ""
    return ConfigError(
        f"unknown placeholder {{{name}}} in {text!r}",
        remedy=f"{hint}known: {known}; write {{{{ and }}}} for braces themselves",
    )
