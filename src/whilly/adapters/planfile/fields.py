"""Reads the typed fields of a JSON object and reports what does not fit."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeVar, final

from whilly.adapters.planfile.findings import Findings, shown

if TYPE_CHECKING:
    from whilly.adapters.planfile.document import Member, Node

Choice = TypeVar("Choice", bound=StrEnum)

_KINDS: Final[dict[type, str]] = {
    type(None): "null",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
}
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


@final
class Fields:
    """One JSON object.

    Args:
        members: its keys and values; null counts as absent.
        owner: whose fields they are, for messages: `task TASK-1`.
        findings: where problems go.
    """

    def __init__(self, members: dict[str, Member], owner: str, findings: Findings) -> None:
        self._members = members
        self._owner = owner
        self._findings = findings

    def find(self, key: str) -> Node | None:
        """The value of a key; None when it is absent or null."""
        member = self._members.get(key)
        return member.node if member and member.node.value is not None else None

    def text(self, key: str) -> str:
        """The text of a key, safe to store; empty when it is absent or no text, which is reported."""
        node = self.find(key)
        if node is None:
            return ""
        if not isinstance(node.value, str):
            self._mistyped(key, node, "a text", f'"{key}": "…"')
            return ""
        return self._storable(key, node, node.value)

    def label(self, key: str) -> str:
        """Like `text`, but a number will do: plans number their phases."""
        node = self.find(key)
        if node and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return str(node.value)
        return self.text(key)

    def texts(self, key: str) -> list[tuple[str, Node]]:
        """The texts of a list and where they stand; entries that are no texts are reported and left out."""
        node = self.find(key)
        if node is None:
            return []
        if not isinstance(node.value, list):
            self._mistyped(key, node, "a list of texts", f'"{key}": ["…"]')
            return []
        found: list[tuple[str, Node]] = []
        for entry in node.value:
            if isinstance(entry.value, str):
                found.append((self._storable(key, entry, entry.value), entry))
            else:
                self._mistyped(key, entry, "a list of texts", f'"{key}": ["…"]')
        return found

    def choice(self, key: str, choices: type[Choice], default: Choice) -> Choice:
        """The member of `choices` that a key names; `default` when it is absent or none of them, which is reported."""
        node = self.find(key)
        text = self.text(key)
        if node is None or not isinstance(node.value, str):
            return default
        if text in choices.__members__.values():
            return choices(text)
        names = [choice.value for choice in choices]
        plain = text.strip().casefold().replace(" ", "_").replace("-", "_")
        what = f"{self._owner} has the {key} `{shown(text)}`"
        if plain in names:
            self._findings.warning(node.start, what, f"it is read as `{plain}`", f"write `{plain}`")
            return choices(plain)
        near = self._findings.nearest(text, names)
        remedy = f"did you mean `{near}`?" if near else f"write one of them; without a {key} it is `{default.value}`"
        self._findings.error(node.start, what, f"a {key} is one of {', '.join(names)}", remedy)
        return default

    def _storable(self, key: str, node: Node, text: str) -> str:
        if _SURROGATE.search(text):
            why = "a lone surrogate is no character and cannot be stored"
            self._findings.error(
                node.start, f"half a character in {key} of {self._owner}", why, "write the whole character"
            )
        if "\0" not in text:
            return text
        why = "neither commands nor commit messages can hold one; it is read as U+FFFD"
        self._findings.warning(node.start, f"a NUL character in {key} of {self._owner}", why, "remove it")
        return text.replace("\0", "\N{REPLACEMENT CHARACTER}")

    def _mistyped(self, key: str, node: Node, wanted: str, example: str) -> None:
        what = f"{key} of {self._owner} is {kind(node)}"
        self._findings.error(node.start, what, f"it must be {wanted}", f"write {example}")


def kind(node: Node) -> str:
    """What a value is, in JSON's words."""
    return _KINDS[type(node.value)]
