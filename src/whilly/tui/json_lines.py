"""Progress for programs: one JSON object a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TextIO, final

from typing_extensions import override

from whilly.application.telling.milestones import describe_event
from whilly.domain.work_item import ItemStatus
from whilly.tui.neutral import json_text
from whilly.tui.outlet import Outlet
from whilly.tui.view import View

if TYPE_CHECKING:
    from types import TracebackType

    from whilly.application.telling.progress import Progress
    from whilly.ports.clock import Clock

INTERVAL_SECONDS = 10.0
"""Between two `progress` objects, as in the predecessor; unlike there also while agents are at work."""


@final
class JsonLines(View):
    """Writes every event as it happens, `progress` now and then, and `complete` at the end."""

    def __init__(self, stream: TextIO, clock: Clock) -> None:
        self._outlet = Outlet(stream)
        self._clock = clock
        self._due = float("-inf")

    @override
    def show(self, progress: Progress) -> None:
        lines = [describe_event(event, progress.plan) for event in progress.news]
        now = self._clock.monotonic()
        if now >= self._due:
            self._due = now + INTERVAL_SECONDS
            lines.append({"event": "progress", **summarize(progress)})
        self._write(lines)

    @override
    def finish(self, progress: Progress, exit_code: int, report: str) -> None:
        lines = [describe_event(event, progress.plan) for event in progress.news]
        complete = {"event": "complete", **summarize(progress), "report": report, "exit_code": int(exit_code)}
        more = {"stop": progress.stop, "remedy": progress.remedy, "target": progress.target}
        complete |= {**more, "take_over": progress.take_over, "pull_request": progress.pull_request}
        complete |= {"written": list(progress.written), "warnings": list(progress.warnings)}
        self._write([*lines, complete])

    @override
    def __enter__(self) -> Self:
        return self

    @override
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def _write(self, lines: list[dict[str, Any]]) -> None:
        self._outlet.write(map(json_text, lines))


def summarize(progress: Progress) -> dict[str, Any]:
    """The five numbers that the predecessor's objects have."""
    return {
        "done": progress.count(ItemStatus.DONE),
        "total": progress.total,
        "failed": progress.count(ItemStatus.FAILED),
        "cost_usd": float(progress.money.spent),
        "elapsed_sec": round(progress.elapsed.total_seconds(), 1),
    }
