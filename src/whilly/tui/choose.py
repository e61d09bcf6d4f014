"""Which way of showing progress fits."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from whilly.ports.clock import Clock
    from whilly.tui.view import View


class Style(StrEnum):
    """Ways of showing."""

    SCREEN = "screen"
    PLAIN = "plain"
    JSON = "json"


def fitting_style(stream: TextIO, *, is_headless: bool, terminal: str = "") -> Style:
    """How to show progress on `stream`.

    Args:
        stream: standard output.
        is_headless: the user asked for JSON lines.
        terminal: the value of `TERM`; a `dumb` one cannot be drawn on.
    """
    if is_headless or not stream.isatty():
        return Style.JSON
    return Style.PLAIN if terminal in {"dumb", "unknown"} else Style.SCREEN


def choose_view(stream: TextIO, clock: Clock, style: Style) -> View:
    """The view for this stream; imports what it needs."""
    match style:
        case Style.JSON:
            from whilly.tui.json_lines import JsonLines  # noqa: PLC0415  (a run has one view)

            return JsonLines(stream, clock)
        case Style.PLAIN:
            from whilly.tui.plain import Plain  # noqa: PLC0415  (as above)

            return Plain(stream, clock)
        case Style.SCREEN:
            from whilly.tui.screen import Screen  # noqa: PLC0415  (costs time: Rich)

            return Screen(stream, clock)
