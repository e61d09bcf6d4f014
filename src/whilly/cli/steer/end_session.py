"""Ends the session of a run that nobody drives any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.cli.inspect.peek import find_reader
from whilly.domain.attempt import AttemptResult, Outcome
from whilly.domain.errors import PortError
from whilly.domain.session import Prior

if TYPE_CHECKING:
    from whilly.bootstrap import Project
    from whilly.domain.flow.run import Run
    from whilly.domain.session import SessionReport


async def end_session(project: Project, run: Run, reason: str) -> str:
    """Stop the process of the run's attempt under way and settle what it has cost; empty, or what could not be done.

    To be called after the ledger has ended the run, and only while no engine works in the repository.
    """
    rows = [row for row in project.reading.attempts(run.plan, run.item) if row.run == run.id]
    current = next((row for row in rows if row.number == run.attempt and row.result is None), None)
    if current is None:
        return ""
    try:
        report = await _stop(project, run, current.agent)
    except PortError as error:
        return str(error)
    result = AttemptResult(
        Outcome.CANCELLED,
        reason,
        usage=report.usage if report else None,
        session=report.session if report else None,
        is_deliberate=True,
    )
    project.recorder.end_attempt(run.id, run.plan, run.attempt, result)
    return ""


async def _stop(project: Project, run: Run, agent: str) -> SessionReport | None:
    sessions = project.sessions
    home = str(project.attempts_root / run.id / str(run.attempt))
    exit_ = await sessions.stop(home)
    position = project.reading.position(run.id)
    prior = Prior(position.item.model, run.session, position.booked, position.started_at)
    reader = find_reader(project, agent, prior)
    if reader is None:
        return None
    lines, offset = await sessions.read(home, 0)
    while lines:
        for line in lines:
            reader.feed(line)
        lines, offset = await sessions.read(home, offset)
    return reader.report(exit_)
