"""Hidden marks in Whilly's own texts: by them it finds again what it wrote, also when the answer was lost."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

_MARK = re.compile(r"\n*<!-- whilly:(?P<key>[^\s<>]+) -->\s*\Z")


def sign(text: str, key: str) -> str:
    """The text with a mark at its end that Markdown does not show; a mark that it had is replaced."""
    return f"{strip_mark(text).rstrip()}\n\n<!-- whilly:{encode_key(key)} -->" if key else text


def read_mark(text: str) -> str:
    """The key in the mark at the end of the text; empty when there is none. Whoever wrote it may have forged it."""
    found = _MARK.search(text)
    return unquote(found["key"]) if found else ""


def strip_mark(text: str) -> str:
    """The text without its mark."""
    return _MARK.sub("", text)


def encode_key(key: str) -> str:
    """The key in characters that end no comment and start nothing."""
    return quote(key, safe="/:._").replace("-", "%2D")
