"""A plan's progress for `whilly status`: as long as it needs to be, printed once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from whilly.tui.frame import render_head, sections

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whilly.application.telling.progress import Progress


def render_overview(progress: Progress, width: int, most: int) -> Iterator[Text]:
    """The head and all sections, each with `most` lines at most."""
    yield from render_head(progress, width)
    for section in sections(progress, width, most):
        if section.lines:
            yield section.heading
            yield from section.lines
        if section.total > most:
            yield Text(f"  … and {section.total - most} more (--all shows them)", style="dim")
