"""Playing a session of an agent to its end, for tests that need no supervisor."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whilly.domain.session import Activity, Exit, SessionReport
from whilly.ports.agent import NOTHING_KNOWN
from whilly.transport.process.furnishing import furnish

if TYPE_CHECKING:
    from collections.abc import Callable

    from whilly.domain.session import Launch, Prior
    from whilly.ports.agent import Agent, SessionReader

MAX_LINE = 64 * 1024 * 1024
POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Played:
    """A session that has ended."""

    lines: tuple[bytes, ...]
    activities: tuple[Activity, ...]
    exit_: Exit
    report: SessionReport


async def play_session(
    agent: Agent,
    launch: Launch,
    limit: float = 120,
    until: Callable[[], bool] | None = None,
    prior: Prior = NOTHING_KNOWN,
) -> Played:
    """Run the process, feed its lines to a reader, stop it when the reader says that waiting is pointless.

    Args:
        agent: whose reader reads.
        launch: what the agent made of a request.
        limit: seconds after which the process is ended, as if by its time limit.
        until: the same as soon as this holds.
        prior: what the reader is told beforehand.
    """
    reader = agent.reader(prior)
    furnish(launch)
    process = await asyncio.create_subprocess_exec(
        *launch.argv,
        cwd=launch.cwd,
        env=dict(launch.env),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=MAX_LINE,
    )
    errors = asyncio.create_task(_read_errors(process))
    lines: list[bytes] = []
    activities: list[Activity] = []
    talk = asyncio.create_task(_converse(process, launch.stdin or "", reader, lines, activities))
    cause = "time_limit"
    try:
        if await _wait_for_end(talk, limit, until):
            cause = await talk
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
        await asyncio.gather(talk, process.wait(), return_exceptions=True)
        stderr = await errors
    code = process.returncode or 0
    exit_ = Exit(code if code >= 0 else None, -code if code < 0 else None, cause, stderr[-4000:])
    return Played(tuple(lines), tuple(activities), exit_, reader.report(exit_))


async def _wait_for_end(talk: asyncio.Task[str], limit: float, until: Callable[[], bool] | None) -> bool:
    """Whether the session came to its end before the limit, or before `until` held."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + limit
    while not talk.done() and loop.time() < deadline and not (until and until()):
        await asyncio.wait({talk}, timeout=POLL_SECONDS)
    return talk.done()


async def _converse(
    process: asyncio.subprocess.Process,
    prompt: str,
    reader: SessionReader,
    lines: list[bytes],
    activities: list[Activity],
) -> str:
    if process.stdin is None or process.stdout is None:
        return ""
    try:
        process.stdin.write(prompt.encode())
        await process.stdin.drain()
    except (BrokenPipeError, ConnectionResetError):
        # It does not read its prompt; what it says and how it ends is what counts.
        pass
    process.stdin.close()
    async for line in process.stdout:
        lines.append(line)
        activities.extend(reader.feed(line))
        if reader.fatal():
            process.terminate()
            return "stopped"
    return ""


async def _read_errors(process: asyncio.subprocess.Process) -> str:
    data = await process.stderr.read() if process.stderr else b""
    return data.decode("utf-8", errors="replace").replace(os.linesep, "\n")
