"""Watch a session until it ends, or end it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from whilly.domain.attempt import Outcome
from whilly.domain.session import Exit, SessionReport

if TYPE_CHECKING:
    from whilly.application.attempt_context import AttemptContext
    from whilly.domain.flow.brief import Halt
    from whilly.ports.agent import SessionReader

SLICE_SECONDS = 0.25
"""How often a running session is looked at: for its output, for a reason to end it."""


async def follow_session(
    home: str, reader: SessionReader, context: AttemptContext
) -> tuple[SessionReport, Halt | None]:
    """Read the session's output as it comes; end it when it stalls, or when the engine says so.

    Returns:
        What the session says of itself, and why the engine ended it, if it did.
    """
    watch = _Watch(home, reader, context)
    while True:
        exit_ = await context.ports.sessions.wait(home, SLICE_SECONDS)
        await watch.read()
        if exit_ is not None:
            return watch.report(exit_), None
        halt = context.line.halt()
        if halt is not None:
            return await watch.end(at_once=halt.at_once), halt
        stalled = watch.stalled()
        if stalled:
            report = await watch.end()
            return SessionReport(Outcome.STALLED, reason=stalled, usage=report.usage, session=report.session), None
        if reader.fatal():
            return await watch.end(), None


class _Watch:
    """One session's output, read so far."""

    def __init__(self, home: str, reader: SessionReader, context: AttemptContext) -> None:
        self._home = home
        self._reader = reader
        self._context = context
        self._offset = 0
        self._heard_at = context.ports.clock.monotonic()

    async def read(self) -> None:
        """Everything that has come since."""
        while True:
            lines, offset = await self._context.ports.sessions.read(self._home, self._offset)
            if offset == self._offset:
                return
            self._offset = offset
            self._heard_at = self._context.ports.clock.monotonic()
            for line in lines:
                for activity in self._reader.feed(line):
                    self._context.line.report(activity)

    def stalled(self) -> str:
        """Why the session counts as hung; empty when it does not."""
        limits = self._context.rules.limits
        limit = limits.silence if self._offset else limits.first_output
        silent = timedelta(seconds=self._context.ports.clock.monotonic() - self._heard_at)
        if limit is None or silent < limit:
            return ""
        return f"no {'' if self._offset else 'first '}output for {int(limit.total_seconds())} s"

    async def end(self, *, at_once: bool = False) -> SessionReport:
        """End the session, without grace as soon as that is wanted, and read what it still said."""
        sessions = self._context.ports.sessions
        stopping = asyncio.ensure_future(sessions.stop(self._home, at_once=at_once))
        while not (await asyncio.wait({stopping}, timeout=SLICE_SECONDS))[0]:
            halt = self._context.line.halt()
            if halt is not None and halt.at_once:
                await sessions.stop(self._home, at_once=True)
        exit_ = await stopping
        await self.read()
        return self.report(exit_)

    def report(self, exit_: Exit) -> SessionReport:
        """What the session came to; a lost or overlong one says nothing reliable of itself."""
        report = self._reader.report(exit_)
        if exit_.cause == "time_limit":
            return SessionReport(
                Outcome.TIMED_OUT, reason="its time was over", usage=report.usage, session=report.session
            )
        if exit_.cause == "lost" and report.outcome is not Outcome.COMPLETED:
            reason = "its process is gone and left no word"
            return SessionReport(Outcome.INTERRUPTED, reason=reason, usage=report.usage, session=report.session)
        return report
