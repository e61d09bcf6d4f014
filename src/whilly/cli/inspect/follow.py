"""Follows a task's attempts while they are worked on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, final

import click

from whilly.cli.inspect.peek import find_reader
from whilly.cli.inspect.session_log import head_line
from whilly.cli.run_lock import find_owner
from whilly.domain.flow.run import Phase
from whilly.transport.process.home import AttemptHome
from whilly.transport.process.line_file import read_lines
from whilly.transport.process.records import OUTPUT_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whilly.application.telling.rows import AttemptRow, ItemRow
    from whilly.bootstrap import Project
    from whilly.cli.inspect.session_log import SessionLog
    from whilly.domain.ids import ItemId, PlanId

LOOK_SECONDS = 0.3
"""How often the outputs and the ledger are looked at."""


def follow_output(project: Project, plan: PlanId, item: ItemId, shown: Sequence[SessionLog]) -> None:
    """Print what is new of a task's attempts until its run has ended, or until nobody works on it any more."""
    following = _Following(project, plan, item, shown)
    while True:
        is_over = following.is_over()
        # What came before the end was seen is printed as well.
        following.print_news()
        if is_over:
            return
        time.sleep(LOOK_SECONDS)


@final
class _Following:
    """What has been printed so far."""

    def __init__(self, project: Project, plan: PlanId, item: ItemId, shown: Sequence[SessionLog]) -> None:
        self._project = project
        self._plan = plan
        self._item = item
        self._tails = {(log.attempt.run, log.attempt.number): Tail(project, log.attempt, log.offset) for log in shown}

    def is_over(self) -> bool:
        """Whether nothing more will come."""
        row = self._row()
        if row is None or (row.run is not None and (row.run.is_ended or row.run.phase is Phase.WAITING)):
            return True
        return find_owner(self._project.state) is None and not self._is_alive()

    def _row(self) -> ItemRow | None:
        return next(iter(self._project.reading.items(self._plan, self._item)), None)

    def _is_alive(self) -> bool:
        return any(tail.is_alive() for tail in self._tails.values())

    def print_news(self) -> None:
        """Print what has come since; an attempt that has begun since has its head before it."""
        for attempt in self._project.reading.attempts(self._plan, self._item):
            key = (attempt.run, attempt.number)
            if key not in self._tails:
                self._tails[key] = Tail(self._project, attempt, 0)
                click.echo(head_line(attempt))
            self._tails[key].print_news(attempt)


@final
class Tail:
    """One attempt's output, printed up to an offset."""

    def __init__(self, project: Project, attempt: AttemptRow, offset: int) -> None:
        self._home = AttemptHome(str(project.attempts_root / attempt.run / str(attempt.number)))
        self._reader = find_reader(project, attempt.agent)
        self._offset = offset
        self._is_closed = attempt.result is not None

    def is_alive(self) -> bool:
        """Whether its process still runs."""
        return self._home.state() == "running"

    def read_news(self) -> Iterator[str]:
        """The actions that have come since."""
        while self._reader is not None:
            lines, offset = read_lines(self._home.path / OUTPUT_FILE, self._offset, lambda: not self.is_alive())
            if offset == self._offset:
                break
            self._offset = offset
            for line in lines:
                yield from (activity.text for activity in self._reader.feed(line) if activity.text)

    def print_news(self, attempt: AttemptRow) -> None:
        """Print the actions that have come since, and the outcome once there is one."""
        for text in self.read_news():
            self._print(text)
        if attempt.result is not None and not self._is_closed:
            self._is_closed = True
            reason = f": {attempt.result.reason}" if attempt.result.reason else ""
            self._print(f"{attempt.result.outcome}{reason}")

    def _print(self, text: str) -> None:
        from whilly.tui.neutral import one_line  # noqa: PLC0415  (needed while following only)

        if text:
            click.echo(f"  {one_line(text, 500)}")
