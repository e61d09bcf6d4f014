"""Bench: where one scenario has sessions with a real agent CLI, under Whilly's own supervisor."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

import psutil

from whilly.adapters.process.sessions import ProcessSessions
from whilly.domain.ids import AttemptId, SessionId
from whilly.domain.session import Activity, Exit, Prior, SessionReport, SessionRequest
from whilly.testing.conformance.verdict import Misfit
from whilly.testing.models.canned import CannedServer
from whilly.transport.process.census import find_carriers
from whilly.transport.process.records import PID_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from whilly.domain.attempt import Usage
    from whilly.ports.agent import Agent, SessionReader
    from whilly.testing.models.canned import Answer
    from whilly.testing.models.scripted import ScriptedModel
    from whilly.testing.rigs.rig import Rig

LIMIT_S = 240.0
"""For any one session; a machine that is overloaded makes a slow CLI ten times slower."""
GONE_S = 10.0
POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class Seen:
    """A session that has ended, as Whilly sees it.

    Attributes:
        was_ended: we ended it.
        left: processes of the session that were still there ten seconds later.
    """

    report: SessionReport
    exit_: Exit
    activities: tuple[Activity, ...]
    longest_line: int
    was_ended: bool
    left: tuple[str, ...]


@final
class Bench:
    """One scenario's place.

    Args:
        rig: how the CLI is put on a scripted model.
        folder: an empty one; everything that the CLI writes is below it.
        path: the variable PATH that the CLI gets.
        make: makes the agent out of an environment.
        model: makes a scripted model.
    """

    def __init__(
        self,
        rig: Rig,
        folder: Path,
        path: str,
        make: Callable[[Mapping[str, str]], Agent],
        model: Callable[..., ScriptedModel],
    ) -> None:
        self.rig = rig
        self.model = model
        self.workspace = folder / "workspace"
        self._make = make
        self._path = path
        self._home = folder / "home"
        self._attempts = folder / "attempts" / "run-1"
        self._state = folder / "state"
        self._number = 0
        for made in (self.workspace, self._home, self._attempts, self._state):
            made.mkdir(parents=True)
        self._sessions = ProcessSessions(str(self._state))

    def git(self, *words: str) -> str:
        """What git says in the workspace; empty when it fails."""
        argv = ["git", *words]
        ended = subprocess.run(argv, cwd=self.workspace, capture_output=True, text=True, check=False)  # noqa: S603  (words of the kit's own)
        return ended.stdout if ended.returncode == 0 else ""

    def agent(self, url: str, *, is_subscribed: bool = False) -> Agent:
        """The CLI on the model at this address."""
        variables = self.rig.settle(self._home, url)
        variables = self.rig.subscribe(variables) if is_subscribed else variables
        names = {"GIT_AUTHOR_NAME": "kit", "GIT_AUTHOR_EMAIL": "kit@example.invalid"}
        names |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in names.items()}
        return self._make({"PATH": self._path, "HOME": str(self._home), **names, **variables})

    def answering(self, answer: Answer) -> CannedServer:
        """A provider that always says this."""
        return CannedServer(answer)

    async def play(
        self,
        agent: Agent,
        prompt: str,
        *,
        prior: Prior | None = None,
        until: Callable[[], bool] | None = None,
        end: str = "term",
        max_turns: int = 0,
    ) -> Seen:
        """Have one session.

        Args:
            agent: the CLI.
            prompt: what it is asked.
            prior: the session to go on with.
            until: end the session as soon as this holds.
            end: how: `term` or `kill` by the supervisor, `agent` or `group` by a KILL from outside.
            max_turns: its limit of turns.
        """
        self._number += 1
        attempt = AttemptId(f"run-1/{self._number}")
        home = str(self._attempts / str(self._number))
        prior = prior or Prior(model=self.rig.model)
        request = SessionRequest(
            attempt=attempt,
            prompt=prompt,
            workspace=str(self.workspace),
            home=home,
            session=SessionId(f"0f0e0d0c-1111-4222-8333-{self._number:012d}"),
            resume=prior.session,
            model=self.rig.model,
            max_turns=max_turns,
        )
        await self._sessions.start(attempt, home, agent.launch(request))
        watch = _Watch(self._sessions, home, agent.reader(prior))
        try:
            exit_ = await watch.follow(until)
            was_ended = exit_ is None
            if exit_ is None:
                exit_ = await self._end(home, end)
        finally:
            await self._sessions.stop(home, at_once=True)
        await watch.read()
        left = await self._find_left(attempt)
        report = watch.reader.report(exit_)
        return Seen(report, exit_, tuple(watch.activities), watch.longest, was_ended, left)

    async def _end(self, home: str, end: str) -> Exit:
        if end in {"term", "kill"}:
            return await self._sessions.stop(home, at_once=end == "kill")
        agent = _find_agent(home)
        (os.killpg if end == "group" else os.kill)(agent, signal.SIGKILL)
        exit_ = await self._sessions.wait(home, LIMIT_S)
        if exit_ is None:
            message = "its supervisor did not notice that it was killed"
            raise Misfit(message)
        return exit_

    async def _find_left(self, attempt: AttemptId) -> tuple[str, ...]:
        deadline = time.monotonic() + GONE_S
        while True:
            found = await asyncio.to_thread(
                lambda: [carrier.name for carrier in find_carriers(str(self._state), lambda name: name == attempt)]
            )
            if not found or time.monotonic() > deadline:
                return tuple(found)
            await asyncio.sleep(POLL_S)


def _find_agent(home: str) -> int:
    """The process that the supervisor in this home has started: its first child."""
    supervisor = json.loads(Path(home, PID_FILE).read_text(encoding="utf-8"))["pid"]
    return min(psutil.Process(supervisor).children(), key=lambda child: child.create_time()).pid


class _Watch:
    """Reads one session's output as it comes."""

    def __init__(self, sessions: ProcessSessions, home: str, reader: SessionReader) -> None:
        self._sessions = sessions
        self._home = home
        self._offset = 0
        self.reader = reader
        self.activities: list[Activity] = []
        self.longest = 0

    async def follow(self, until: Callable[[], bool] | None) -> Exit | None:
        """How it ended; None when it has to be ended."""
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            exit_ = await self._sessions.wait(self._home, POLL_S)
            await self.read()
            if exit_ is not None:
                return exit_
            if self.reader.fatal() or (until and until()):
                return None
        message = f"it did not end within {LIMIT_S:g} s"
        raise Misfit(message)

    async def read(self) -> None:
        while True:
            lines, offset = await self._sessions.read(self._home, self._offset)
            if offset == self._offset:
                return
            self._offset = offset
            for line in lines:
                self.longest = max(self.longest, len(line))
                self.activities.extend(self.reader.feed(line))


def sum_tokens(usage: Usage | None) -> int:
    """Input and output together; 0 when they are not known."""
    return usage.input_tokens + usage.output_tokens if usage else 0
