"""What a failure says is not there: a module, a package, a name, a command."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MAX = 5


@dataclass(frozen=True, slots=True)
class Missing:
    """A thing that is not there.

    Attributes:
        kind: `module`, `name` or `command`.
        is_dependency: it is not of the project itself, so that setting the project up may bring it.
    """

    kind: str
    name: str
    is_dependency: bool


_MODULE = re.compile(
    r"ModuleNotFoundError: No module named '(?P<python>[^'\n]+)'"
    r"|^\S*python\S*: No module named (?P<main>\S+)$"
    r"|Cannot find (?:module|package) '(?P<node>[^'\n]+)'"
    r"|cannot find package \"(?P<go>[^\"\n]+)\""
    r"|no required module provides package (?P<gomod>[^\s;:]+)"
    r"|package (?P<gostd>\S+) is not in (?:std|GOROOT)"
    r"|can't find crate for `(?P<crate>[^`\n]+)`"
    r"|use of (?:undeclared (?:crate|type) or module|unresolved module or unlinked crate) `(?P<rust>[^`\n]+)`"
    r"|no external crate `(?P<extern>[^`\n]+)`"
    r"|unresolved import `(?P<import>[^`\n]+)`"
    r"|file not found for module `(?P<mod>[^`\n]+)`",
    re.MULTILINE,
)
_OWN_KINDS = {"import", "mod"}
_NAME = re.compile(
    r"ImportError: cannot import name '(?P<import>[^'\n]+)' from '(?P<source>[^'\n]+)'"
    r"|NameError: name '(?P<name>[^'\n]+)' is not defined"
    r"|AttributeError: (?P<owner>[^\n]{1,120}?) has no attribute '(?P<attribute>[^'\n]+)'"
    r"|ReferenceError(?: \[Error\])?: (?P<node>\S+) is not defined"
    r"|\bundefined: (?P<go>[\w.]+)"
    r"|cannot find (?:value|function|type|macro|struct|module|trait)[^`\n]{0,80}`(?P<rust>[^`\n]+)` in this scope",
)
_COMMAND = re.compile(
    r"^(?:/\S*/)?(?:ba|da|z|k)?sh: (?:(?:line )?\d+: )?(?P<sh>[^\s:]+): (?:command )?not found$"
    r"|^zsh:\d+: command not found: (?P<zsh>\S+)$"
    r"|^make(?:\[\d+\])?: (?P<make>[^\s:]+): No such file or directory$"
    r"|^env: [\u2018'\"]?(?P<env>[^\s:\u2019'\"]+)[\u2019'\"]?: No such file or directory$",
    re.MULTILINE,
)


def find_missing(text: str) -> tuple[Missing, ...]:
    """What is missing, in the order in which it is told, without repetition, at most a few."""
    found = {}
    for match in _COMMAND.finditer(text):
        name = match[match.lastgroup or 0]
        found["command", name] = "/" not in name
    for match in _MODULE.finditer(text):
        kind = match.lastgroup or ""
        name = match[kind]
        is_foreign = kind not in _OWN_KINDS and not _is_own(name, kind, text)
        found["module", name] = found.get(("module", name), False) or is_foreign
    for match in _NAME.finditer(text):
        found["name", _full_name(match)] = False
    return tuple(Missing(kind, name, is_foreign) for (kind, name), is_foreign in found.items())[:_MAX]


def _is_own(name: str, kind: str, text: str) -> bool:
    """Whether a module that is missing belongs to the project: its file was forgotten, and no set-up brings it."""
    if kind in {"node", "main"}:
        return name.startswith((".", "/", "file:", "@/", "~/"))
    if kind == "python" and "." in name:
        top = re.escape(name.partition(".")[0])
        # A frame, or the place of an import, inside a package of that name that is not an installed one.
        return (
            re.search(rf"(?:^|[\s\"'(])(?!/)(?:[\w.-]+/)*{top}/[\w/.-]*\.py\b|from {top}[. ]", text, re.MULTILINE)
            is not None
        )
    return False


def _full_name(match: re.Match[str]) -> str:
    if match["import"]:
        return f"{match['import']} in {match['source']}"
    if match["attribute"]:
        return f"attribute {match['attribute']} of {match['owner']}"
    return match[match.lastgroup or 0]
