"""Progress for people on a terminal that cannot be drawn on: a line when something happens, and now and then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, TextIO, final

from typing_extensions import override

from whilly.application.telling.milestones import describe_event
from whilly.application.telling.progress import headline
from whilly.domain.work_item import ItemStatus
from whilly.tui.neutral import one_line
from whilly.tui.outlet import Outlet
from whilly.tui.summary import render_summary
from whilly.tui.view import View
from whilly.tui.words import dollars, duration

if TYPE_CHECKING:
    from types import TracebackType

    from whilly.application.telling.progress import Progress
    from whilly.application.telling.rows import EventRow
    from whilly.ports.clock import Clock

INTERVAL_SECONDS = 30.0
"""Between two lines that say how things stand, so that long work does not look dead."""


@final
class Plain(View):
    """Writes lines, one after the other."""

    def __init__(self, stream: TextIO, clock: Clock) -> None:
        self._outlet = Outlet(stream)
        self._clock = clock
        self._due = float("-inf")

    @override
    def show(self, progress: Progress) -> None:
        self._outlet.write(self._tell(event, progress) for event in progress.news)
        now = self._clock.monotonic()
        if now >= self._due:
            self._due = now + INTERVAL_SECONDS
            done = f"{progress.count(ItemStatus.DONE)}/{progress.total} done"
            told = f"{done}, {dollars(progress.money.spent)}, {headline(progress)}"
            self._outlet.write([f"{duration(progress.elapsed):>7}  {one_line(told)}"])

    @override
    def finish(self, progress: Progress, exit_code: int, report: str) -> None:
        self._outlet.write(self._tell(event, progress) for event in progress.news)
        self._outlet.write(line.plain for line in render_summary(progress, exit_code, report))

    @override
    def __enter__(self) -> Self:
        return self

    @override
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def _tell(self, event: EventRow, progress: Progress) -> str:
        told = describe_event(event, progress.plan)
        what = str(told.get("milestone") or event.type).replace("_", " ")
        parts = [str(told.get("task_id", "")), what, str(told.get("reason", ""))]
        return f"{duration(progress.elapsed):>7}  {one_line(' '.join(part for part in parts if part))}"
