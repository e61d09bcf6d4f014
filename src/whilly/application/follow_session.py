"""Watch a session until it ends, or end it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from whilly.domain.attempt import Outcome, Usage
from whilly.domain.session import Exit, SessionReport, judge_exit
from whilly.domain.silence import LOOKS, Look, is_working

if TYPE_CHECKING:
    from whilly.application.attempt_context import AttemptContext
    from whilly.domain.flow.brief import Halt
    from whilly.ports.agent import SessionReader

SLICE_SECONDS = 0.25
"""How often a running session is looked at: for its output, for a reason to end it."""

MOST_BLOCKS = 4
"""How much is read, about a megabyte each, before a running session is looked at again: some write without end."""

OVERFLOW = "output_limit"

CATCH_UP_SECONDS = 5.0
"""How long the rest of what an ended session has written is read; ordinary ones need milliseconds."""


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
        if exit_ is None or exit_.cause != OVERFLOW:
            # Nobody needs the rest of what has grown past its limit, and to read it takes minutes.
            await watch.read(is_ended=exit_ is not None)
        if exit_ is not None:
            return watch.report(exit_), None
        halt = context.line.halt()
        if halt is not None:
            return await watch.end(at_once=halt.at_once), halt
        if reader.fatal():
            return await watch.end(), None
        if watch.is_over():
            return await watch.end(is_over=True), None
        stalled = await watch.stalled()
        if stalled:
            report = await watch.end()
            return SessionReport(Outcome.STALLED, reason=stalled, usage=report.usage, session=report.session), None


class _Watch:
    """One session's output, read so far."""

    def __init__(self, home: str, reader: SessionReader, context: AttemptContext) -> None:
        self._home = home
        self._reader = reader
        self._context = context
        self._offset = 0
        self._heard_at = self._worked_at = context.ports.clock.monotonic()
        self._look: Look | None = None
        self._looks = 0

    async def read(self, *, is_ended: bool) -> None:
        """What has come since; all of it when the session has ended."""
        blocks = 0
        while is_ended or blocks < MOST_BLOCKS:
            blocks += 1
            lines, offset = await self._context.ports.sessions.read(self._home, self._offset)
            if offset == self._offset:
                return
            self._offset = offset
            self._heard_at = self._worked_at = self._context.ports.clock.monotonic()
            self._look, self._looks = None, 0
            for line in lines:
                for activity in self._reader.feed(line):
                    self._context.line.report(activity)

    def is_over(self) -> bool:
        """Whether the session has said its last word and has been silent since."""
        return self._reader.is_over() and self._silence() >= self._context.rules.limits.after_result

    async def stalled(self) -> str:
        """Why the session counts as hung; empty when it does not."""
        limits = self._context.rules.limits
        limit = limits.silence if self._offset else limits.first_output
        if limit is None or self._reader.is_over():
            return ""
        if not self._offset:
            return _tell("no first output", limit) if self._silence() >= limit else ""
        await self._look_for_work(limit)
        idle = timedelta(seconds=self._context.ports.clock.monotonic() - self._worked_at)
        # One look alone says nothing of the processor: it compares with the one before.
        return _tell("no output and nothing at work", limit) if idle >= limit and self._looks > 1 else ""

    def _silence(self) -> timedelta:
        return timedelta(seconds=self._context.ports.clock.monotonic() - self._heard_at)

    async def _look_for_work(self, limit: timedelta) -> None:
        """Every now and then while it is silent, see whether something works below the agent."""
        now = self._context.ports.clock.monotonic()
        if now - (self._look.at if self._look else self._heard_at) < limit.total_seconds() / LOOKS:
            return
        look = Look(now, await self._context.ports.sessions.effort(self._home))
        if is_working(self._look, look):
            self._worked_at = now
        self._look = look
        self._looks += 1

    async def end(self, *, at_once: bool = False, is_over: bool = False) -> SessionReport:
        """End the session, without grace as soon as that is wanted, and read what it still said.

        Args:
            at_once: without any grace.
            is_over: it has said its last word, so its end by force is an end in order.
        """
        sessions = self._context.ports.sessions
        stopping = asyncio.ensure_future(sessions.stop(self._home, at_once=at_once))
        while not (await asyncio.wait({stopping}, timeout=SLICE_SECONDS))[0]:
            halt = self._context.line.halt()
            if halt is not None and halt.at_once:
                await sessions.stop(self._home, at_once=True)
        exit_ = await stopping
        with suppress(TimeoutError):
            async with asyncio.timeout(CATCH_UP_SECONDS):
                await self.read(is_ended=True)
        return self.report(replace(exit_, code=0, signal=None, cause="") if is_over else exit_)

    def report(self, exit_: Exit) -> SessionReport:
        """What the session came to; a lost or overlong one says nothing reliable of itself."""
        report = _meter(self._reader.report(exit_), exit_)
        outcome, reason = _overruled(exit_)
        if outcome is None or (exit_.cause == "lost" and report.outcome is Outcome.COMPLETED):
            return report
        return SessionReport(outcome, reason=reason, usage=report.usage, session=report.session)


def _meter(report: SessionReport, exit_: Exit) -> SessionReport:
    """What a gateway has measured counts, whatever the agent says that it has used."""
    measured = exit_.usage
    if measured is None:
        return report
    told = report.usage or Usage()
    cost = told.cost_usd if measured.cost_usd is None else measured.cost_usd
    return replace(report, usage=replace(measured, cost_usd=cost, turns=told.turns or measured.turns))


def _overruled(exit_: Exit) -> tuple[Outcome | None, str]:
    match exit_.cause:
        case "time_limit":
            return Outcome.TIMED_OUT, "its time was over"
        case "output_limit":
            return Outcome.CRASHED, "it wrote more output than agent.max_output_mb allows"
        case "over_budget" | "memory" | "disk":
            return judge_exit(exit_)
        case "lost":
            return Outcome.INTERRUPTED, "its process is gone and left no word"
        case _:
            return None, ""


def _tell(what: str, limit: timedelta) -> str:
    return f"{what} for {int(limit.total_seconds())} s"
