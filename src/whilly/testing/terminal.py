"""A terminal for tests: a program runs on a real pseudo-terminal, and what a person would see is kept as lines."""

from __future__ import annotations

import os
import re
import select
import signal
import struct
import subprocess
import sys
import time
import unicodedata
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

if sys.platform != "win32":
    import fcntl
    import pty
    import termios

_TOKEN = re.compile(
    r"\x1b\[(?P<private>\??)(?P<numbers>[\d;]*)(?P<final>[A-Za-z])|\x1b[=>78]|\x1b\][^\x07]*\x07|(?P<plain>.)",
    re.DOTALL,
)

_TAKE_TERMINAL = (
    "import fcntl, os, signal, sys, termios; signal.signal(signal.SIGINT, signal.SIG_DFL);"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"
)
"""Makes the terminal the session's own, so that Ctrl-C becomes a signal, and then becomes the program.

The signal may be ignored where the tests run: a shell has its background commands ignore it, and so do their children.
"""


@final
class Display:
    """What a terminal shows: enough of ECMA-48 for what Rich and programs like it write; anything else is an error."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns = columns
        self.rows = rows
        self.is_cursor_visible = True
        self.is_alternate = False
        self.unknown: list[str] = []
        self.colours: set[str] = set()
        self._pages = {False: self._blank(), True: self._blank()}
        self._at = {False: (0, 0), True: (0, 0)}

    def _blank(self) -> list[list[str]]:
        return [[" "] * self.columns for _ in range(self.rows)]

    def lines(self) -> list[str]:
        """The lines on the screen, without what is blank at their ends."""
        return ["".join(row).rstrip() for row in self._pages[self.is_alternate]]

    def text(self) -> str:
        """The same as one text, without blank lines at the end."""
        return "\n".join(self.lines()).rstrip()

    def feed(self, text: str) -> None:
        """Show what a program wrote."""
        for token in _TOKEN.finditer(text):
            if token["plain"] is not None:
                self._put(token["plain"])
            elif token["final"] is not None:
                self._control(token["private"], token["numbers"], token["final"])

    def _put(self, character: str) -> None:
        if character == "\r":
            self._at[self.is_alternate] = (self._at[self.is_alternate][0], 0)
        elif character == "\n":
            self._line_feed()
        elif character.isprintable():
            self._draw(character)
        elif character != "\x07":
            self.unknown.append(repr(character))

    def _draw(self, character: str) -> None:
        if unicodedata.combining(character):
            return
        cells = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        row, column = self._at[self.is_alternate]
        if column + cells > self.columns:
            self._line_feed()
            row, column = self._at[self.is_alternate][0], 0
        page = self._pages[self.is_alternate]
        page[row][column : column + cells] = [character, ""][:cells]
        self._at[self.is_alternate] = (row, column + cells)

    def _line_feed(self) -> None:
        row, column = self._at[self.is_alternate]
        if row + 1 < self.rows:
            self._at[self.is_alternate] = (row + 1, column)
            return
        page = self._pages[self.is_alternate]
        page.pop(0)
        page.append([" "] * self.columns)

    def _control(self, private: str, numbers: str, final_: str) -> None:
        first = numbers.partition(";")[0]
        count = int(first) if first else 1
        row, column = self._at[self.is_alternate]
        page = self._pages[self.is_alternate]
        match final_:
            case "h" | "l" if private:
                self._set_mode(numbers, is_on=final_ == "h")
            case "m":
                self.colours |= {
                    number for number in numbers.split(";") if number[:1] in set("349") and len(number) > 1
                }
            case "H":
                self._at[self.is_alternate] = (0, 0)
            case "A":
                self._at[self.is_alternate] = (max(0, row - count), column)
            case "K":
                page[row] = [" "] * self.columns
            case "J":
                self._pages[self.is_alternate] = self._blank()
            case _:
                self.unknown.append(f"CSI {private}{numbers}{final_}")

    def _set_mode(self, number: str, *, is_on: bool) -> None:
        match number:
            case "25":
                self.is_cursor_visible = is_on
            case "1049":
                self.is_alternate = is_on
                if is_on:
                    self._pages[True] = self._blank()
                    self._at[True] = (0, 0)
            case _:
                self.unknown.append(f"mode {number}")


@final
class TerminalProgram:
    """A program on a pseudo-terminal.

    Args:
        argv: the program and its arguments.
        env: its whole environment.
        size: columns and rows.
    """

    def __init__(self, argv: Sequence[str], cwd: str, env: Mapping[str, str], size: tuple[int, int] = (80, 24)) -> None:
        self._master, self._slave = pty.openpty()
        self.display = Display(*size)
        self.resize(*size)
        self.before = termios.tcgetattr(self._slave)
        self._pending = b""
        self._process = subprocess.Popen(  # noqa: S603  (what the test says)
            [sys.executable, "-c", _TAKE_TERMINAL, *argv],
            cwd=cwd,
            env=dict(env),
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            start_new_session=True,
        )

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size, as a window manager does; the display is blank after that."""
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if (columns, rows) != (self.display.columns, self.display.rows):
            was = self.display
            self.display = Display(columns, rows)
            self.display.is_alternate, self.display.is_cursor_visible = was.is_alternate, was.is_cursor_visible

    def press(self, keys: bytes) -> None:
        r"""Type; `\x03` is Ctrl-C."""
        os.write(self._master, keys)

    def wait_for(self, is_there: Callable[[Display], bool], seconds: float = 30.0) -> None:
        """Read until the display is as wanted.

        Raises:
            AssertionError: it never is.
        """
        deadline = time.monotonic() + seconds
        while not is_there(self.display):
            if not self._read(deadline - time.monotonic()):
                break
        if not is_there(self.display):
            message = f"the display never was as wanted; it shows:\n{self.display.text()}"
            raise AssertionError(message)

    def wait(self, seconds: float = 30.0) -> int:
        """Read until the program has ended; its exit code.

        Raises:
            AssertionError: it never does.
        """
        deadline = time.monotonic() + seconds
        while self._process.poll() is None and time.monotonic() < deadline:
            self._read(0.05)
        while self._read(0):
            pass
        code = self._process.poll()
        if code is None:
            message = f"the program has not ended; the display shows:\n{self.display.text()}"
            raise AssertionError(message)
        return code

    def is_restored(self) -> bool:
        """Whether the terminal is as it was before: its modes, its cursor, its first screen."""
        same = termios.tcgetattr(self._slave) == self.before
        return same and self.display.is_cursor_visible and not self.display.is_alternate

    def close(self) -> None:
        """End the program if it still runs, and give the terminal back."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._master)
        os.close(self._slave)

    def _read(self, seconds: float) -> bool:
        """Show what the program writes within `seconds`; False when it writes nothing."""
        ready, _, _ = select.select([self._master], [], [], max(0.0, seconds))
        if not ready:
            return False
        data = self._pending + os.read(self._master, 1 << 16)
        # A character or a control sequence may be cut in two by the read.
        end = len(data)
        cut = data.rfind(b"\x1b", max(0, end - 32))
        if cut >= 0 and not re.search(rb"\x1b(?:\[[\d;?]*[A-Za-z]|[=>78])", data[cut:]):
            end = cut
        text = data[:end].decode("utf-8", errors="ignore")
        self._pending = data[len(text.encode()) :]
        self.display.feed(text)
        return True
