"""Progress for people: a live display on a terminal."""

from __future__ import annotations

import io
import sys
from contextlib import ExitStack, redirect_stderr
from typing import TYPE_CHECKING, Self, TextIO, final

from rich.console import Console
from rich.live import Live
from rich.segment import Segment
from typing_extensions import override

from whilly.tui.frame import render_frame
from whilly.tui.summary import render_summary
from whilly.tui.view import View

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import ConsoleOptions, RenderResult

    from whilly.application.telling.progress import Progress
    from whilly.ports.clock import Clock

INTERVAL_SECONDS = 0.25
"""Between two frames."""


@final
class _Frame:
    """Draws a plan's progress over the whole terminal, however large that is at the time."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, height = options.max_width, options.height or options.size.height
        lines = render_frame(self._progress, width, height)
        for number, line in enumerate(lines):
            yield from console.render(line, options.update(no_wrap=True, height=None))
            if number < len(lines) - 1:
                yield Segment.line()


@final
class Screen(View):
    """Takes the terminal over while a run goes on, and leaves a summary on it.

    What others write to standard error meanwhile is kept back until the end, when it can be read.
    """

    def __init__(self, stream: TextIO, clock: Clock) -> None:
        self._console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=False)
        self._clock = clock
        self._due = float("-inf")
        self._live = Live(
            console=self._console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        )
        self._errors = io.StringIO()
        self._stack = ExitStack()
        self._is_gone = False

    @override
    def show(self, progress: Progress) -> None:
        now = self._clock.monotonic()
        if now < self._due or self._is_gone or not self._live.is_started:
            return
        self._due = now + INTERVAL_SECONDS
        try:
            self._live.update(_Frame(progress), refresh=True)
        except OSError:
            # The terminal was closed; the run goes on.
            self._is_gone = True

    @override
    def finish(self, progress: Progress, exit_code: int, report: str) -> None:
        self._leave()
        try:
            for line in render_summary(progress, exit_code, report):
                self._console.print(line, soft_wrap=True)
        except OSError:
            self._is_gone = True

    @override
    def __enter__(self) -> Self:
        self._stack.enter_context(redirect_stderr(self._errors))
        self._live.start()
        return self

    @override
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        """Give the terminal back; doing it twice is harmless."""
        try:
            self._live.stop()
        except OSError:
            self._is_gone = True
        finally:
            self._stack.close()
        sys.stderr.write(self._errors.getvalue())
        self._errors.truncate(0)
        self._errors.seek(0)
