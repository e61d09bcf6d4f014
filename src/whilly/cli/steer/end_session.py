"""Ends what is being done for a run that nobody drives any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.cli.inspect.peek import find_reader, is_person
from whilly.domain.attempt import AttemptResult, Outcome
from whilly.domain.errors import NotFound, PortError
from whilly.domain.ids import attempt_id
from whilly.domain.session import Prior

if TYPE_CHECKING:
    from whilly.bootstrap import Project
    from whilly.domain.flow.run import Run
    from whilly.domain.ids import CommitId
    from whilly.domain.session import SessionReport


async def end_session(project: Project, run: Run, reason: str, *, is_saved: bool = False) -> str:
    """Stop the process of the run's attempt under way and settle what it has cost; empty, or what could not be done.

    To be called after the ledger has ended the run or wants its attempt ended, and only while no engine works in the
    repository.

    Args:
        project: the repository's Whilly.
        run: as it was before.
        reason: for people.
        is_saved: the run goes on later, so what was done is committed; otherwise that is done when it is put away.
    """
    rows = [row for row in project.reading.attempts(run.plan, run.item) if row.run == run.id]
    current = next((row for row in rows if row.number == run.attempt and row.result is None), None)
    if current is None:
        return ""
    try:
        report = await _stop(project, run, current.agent, reason)
        commit = await _save(project, run) if is_saved else None
    except PortError as error:
        return str(error)
    result = AttemptResult(
        Outcome.INTERRUPTED if is_saved else Outcome.CANCELLED,
        reason,
        usage=report.usage if report else None,
        session=report.session if report else None,
        commit=commit,
        is_deliberate=True,
    )
    project.recorder.end_attempt(run.id, run.plan, run.attempt, result)
    return ""


async def _save(project: Project, run: Run) -> CommitId | None:
    if run.base is None:
        return None
    try:
        workspace = project.workspace_in(project.tier_of(project.reading.position(run.id).item))
        return (await workspace.save(run.id, attempt_id(run.id, run.attempt), run.base)).commit
    except NotFound:
        # It was ended before it had a workspace.
        return None


async def _stop(project: Project, run: Run, agent: str, reason: str) -> SessionReport | None:
    if is_person(project, agent):
        await project.handoffs.withdraw(attempt_id(run.id, run.attempt), reason)
        return None
    sessions = project.sessions
    home = str(project.attempts_root / run.id / str(run.attempt))
    exit_ = await sessions.stop(home)
    position = project.reading.position(run.id)
    booked = position.booked
    prior = Prior(position.item.model, run.session, booked.usage, position.started_at, booked.deposit)
    reader = find_reader(project, agent, prior)
    if reader is None:
        return None
    lines, offset = await sessions.read(home, 0)
    while lines:
        for line in lines:
            reader.feed(line)
        lines, offset = await sessions.read(home, offset)
    return reader.report(exit_)
