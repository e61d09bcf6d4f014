"""Lines on standard output, in colour where that makes sense."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rich.text import Text

PIPE_WIDTH = 160
"""Columns that lines may have where there is no terminal."""


def print_lines(render: Callable[[int], Iterable[Text | str]]) -> None:
    """Print what `render` makes of the width that there is.

    Raises:
        BrokenPipeError: nobody reads; the outermost scope knows what to do.
    """
    from rich.console import Console  # noqa: PLC0415  (costs time that `--json` need not take)

    is_terminal = sys.stdout.isatty()
    console = Console(
        file=sys.stdout, highlight=False, markup=False, emoji=False, width=None if is_terminal else PIPE_WIDTH
    )
    console.on_broken_pipe = _raise_broken_pipe  # type: ignore[method-assign]  # Rich would exit by itself, with 1
    for line in render(console.width):
        console.print(line, soft_wrap=True)


def _raise_broken_pipe() -> None:
    raise BrokenPipeError
