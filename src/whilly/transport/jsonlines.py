"""JSON lines as agent CLIs write them: objects are read, everything else is passed over."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

MAX_TEXT = 200
"""Characters of a line for people."""

MAX_MONEY = 10**9


def parse_object(line: bytes) -> dict[str, Any] | None:
    """The JSON object on this line; None for anything else: text, a list, half a line, nesting without end.

    Numbers with a fraction are `Decimal`, so that money is exact. Invalid UTF-8 is replaced.
    """
    # Most lines of a flood are no objects: they must cost next to nothing.
    data = line.strip().strip(b"\x00")
    if not data.startswith(b"{"):
        return None
    text = data.decode("utf-8", errors="replace")
    try:
        value = json.loads(text, strict=False, parse_float=Decimal, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def cut_line(text: str, limit: int = MAX_TEXT) -> str:
    """`text` as one printable line of at most `limit` characters: no control characters, no runs of spaces."""
    head = text[: limit * 8]
    line = " ".join("".join(char if char.isprintable() else " " for char in head).split())
    if len(line) <= limit and len(text) == len(head):
        return line
    return line[: limit - 1].rstrip() + "…"


def get_text(data: object, key: str) -> str:
    """The string at `key` of a JSON object; empty when there is none."""
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, str) else ""


def get_count(data: object, key: str) -> int:
    """The natural number at `key` of a JSON object; 0 when there is none."""
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def get_money(data: object, key: str) -> Decimal | None:
    """The amount at `key` of a JSON object, to a billionth; None when there is none, or none that makes sense."""
    value = data.get(key) if isinstance(data, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    amount = Decimal(value)
    # The limit comes first: rounding a number with an absurd exponent raises.
    is_sound = amount.is_finite() and 0 <= amount < MAX_MONEY
    return round(amount, 9).normalize() + 0 if is_sound else None
