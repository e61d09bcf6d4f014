"""Text that others wrote, made fit for a terminal."""

from __future__ import annotations

import json

_INVISIBLE = frozenset("\u200b\u200c\u200d\u200e\u200f\u2060\ufe0e\ufe0f\ufeff\u00ad")
"""Joiners and variation selectors: terminals disagree about the width of what they make, so they are left out."""


def one_line(text: str, limit: int = 300) -> str:
    """The beginning of the text as one line of at most `limit` characters that cannot steer a terminal."""
    cut = text[: limit * 2]
    words = " ".join(cut.split())
    shown = "".join(_visible(character) for character in words if character not in _INVISIBLE)
    return shown if len(shown) <= limit and len(cut) == len(text) else shown[: limit - 1].rstrip() + "…"


def block(text: str) -> str:
    """The text with its lines kept, and nothing in them that could steer a terminal."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("".join(_visible(each) for each in line.replace("\t", "    ")) for line in lines)


def json_text(value: object, *, indent: int | None = None) -> str:
    """The value as JSON; what could steer a terminal is escaped, everything else is as it is."""
    separators = None if indent else (",", ":")
    text = json.dumps(value, indent=indent, ensure_ascii=False, separators=separators)
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text)


def _visible(character: str) -> str:
    return character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
