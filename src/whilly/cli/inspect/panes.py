"""Several commands side by side in tmux, on a server of their own that ends with them."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def show_panes(program: str, commands: Sequence[tuple[str, Sequence[str]]], environment: Mapping[str, str]) -> int:
    """Show each command in a pane until all have ended or the user detaches; nothing of tmux is left.

    Args:
        program: path of tmux.
        commands: titles and command lines.
        environment: of tmux and of the commands.
    """
    # Inside of another tmux this one is a program like any other.
    outside = {name: value for name, value in environment.items() if name not in {"TMUX", "TMUX_PANE"}}
    with tempfile.TemporaryDirectory(prefix=f"whilly-{os.getpid()}-") as folder:
        # Its socket goes with the folder: tmux leaves it behind.
        server = [program, "-S", str(Path(folder, "tmux")), "-f", os.devnull]
        # tmux says "lost" of a session that goes when nobody looks; what counts is whether it came up.
        mark = Path(folder, "up")
        words = [*plan_panes(commands), ";", "run-shell", f"touch {shlex.quote(str(mark))}"]
        try:
            subprocess.run([*server, *words], env=outside, check=False)  # noqa: S603  (our own)
        finally:
            subprocess.run([*server, "kill-server"], env=outside, check=False, capture_output=True)  # noqa: S603  (as above)
        return ExitCode.DONE if mark.exists() else ExitCode.FAILED


def plan_panes(commands: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """The words for one call of tmux that makes the session, attached, and all of its panes."""
    words = list(_split(commands))
    # In the same call, while it is attached: it goes as soon as nobody looks.
    return [*words, ";", "set-option", "-g", "destroy-unattached", "on", ";", "set-option", "-g", "status", "off"]


def _split(commands: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
    for number, (title, command) in enumerate(commands):
        yield from () if number == 0 else (";",)
        yield "new-session" if number == 0 else "split-window"
        yield shlex.join(command)
        yield from (";", "select-pane", "-T", title.replace("#", "##"))
        yield from (";", "select-layout", "tiled")
    yield from (";", "set-option", "-g", "pane-border-status", "top")
