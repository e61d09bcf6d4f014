"""Bench: where one scenario has sessions with a real agent CLI, under Whilly's own supervisor."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, final

import psutil
from typing_extensions import override

from whilly.adapters.process.sessions import ProcessSessions
from whilly.adapters.system.clock import SystemClock
from whilly.application.attempt_context import AttemptContext, Line, Rules
from whilly.application.follow_session import follow_session
from whilly.domain.attempt import Outcome
from whilly.domain.flow.brief import Halt, SessionLimits
from whilly.domain.ids import AttemptId, SessionId
from whilly.domain.session import Activity, Launch, Prior, SessionReport, SessionRequest
from whilly.testing.models.canned import CannedServer
from whilly.testing.world import World
from whilly.transport.process.census import find_carriers
from whilly.transport.process.records import OUTPUT_FILE, PID_FILE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.attempt import Usage
    from whilly.domain.ids import CommitId
    from whilly.ports.agent import Agent
    from whilly.testing.models.canned import Answer
    from whilly.testing.models.scripted import ScriptedModel
    from whilly.testing.rigs.rig import Rig

LIMIT = timedelta(minutes=4)
"""For any one session; a machine that is overloaded makes a slow CLI ten times slower."""
GONE_S = 10.0
POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class Seen:
    """A session that has ended, as Whilly sees it.

    Attributes:
        was_ended: the scenario ended it.
        left: processes of the session that were still there ten seconds later.
    """

    report: SessionReport
    activities: tuple[Activity, ...]
    longest_line: int
    was_ended: bool
    left: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """What happens to a session beside its prompt.

    Attributes:
        until: end the session as soon as this holds.
        end: how: `term` or `kill` by the supervisor, `agent` or `group` by a KILL from outside.
        max_turns: its limit of turns; 0 is none.
        after_result: how long it may be silent after its last word.
        change: makes another process of it than its agent would.
    """

    until: Callable[[], bool] = lambda: False
    end: str = "term"
    max_turns: int = 0
    after_result: timedelta = timedelta(seconds=30)
    change: Callable[[Launch], Launch] = lambda launch: launch


ORDINARY = Way()


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

    async def play(self, agent: Agent, prompt: str, way: Way = ORDINARY, *, prior: Prior | None = None) -> Seen:
        """Have one session, followed as the engine follows it.

        Args:
            agent: the CLI.
            prompt: what it is asked.
            way: what happens to it beside that.
            prior: the session to go on with.
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
            max_turns=way.max_turns,
        )
        launch = way.change(replace(agent.launch(request), time_limit=LIMIT))
        line = _KitLine(home, way)
        ports = replace(World("sqlite://").ports(), sessions=self._sessions, clock=SystemClock())
        rules = Rules(limits=SessionLimits(first_output=None, silence=None, after_result=way.after_result))
        await self._sessions.start(attempt, home, launch)
        try:
            context = AttemptContext(ports, rules, line, lambda _name, _values: "")
            report, _ = await follow_session(home, agent.reader(prior), context)
        finally:
            await self._sessions.stop(home, at_once=True)
        left = await self._find_left(attempt)
        return Seen(report, tuple(line.activities), _find_longest(home), line.was_ended, left)

    async def _find_left(self, attempt: AttemptId) -> tuple[str, ...]:
        deadline = time.monotonic() + GONE_S
        while True:
            found = await asyncio.to_thread(
                lambda: [carrier.name for carrier in find_carriers(str(self._state), lambda name: name == attempt)]
            )
            if not found or time.monotonic() > deadline:
                return tuple(found)
            await asyncio.sleep(POLL_S)


@final
class _KitLine(Line):
    """Ends the session when its scenario wants that, and keeps what it did."""

    def __init__(self, home: str, way: Way) -> None:
        self._home = home
        self._way = way
        self.activities: list[Activity] = []
        self.was_ended = False

    @override
    def halt(self) -> Halt | None:
        if not self.was_ended and not self._way.until():
            return None
        if self._way.end in {"term", "kill"}:
            self.was_ended = True
            return Halt(Outcome.INTERRUPTED, "enough", at_once=self._way.end == "kill")
        if not self.was_ended:
            self.was_ended = True
            (os.killpg if self._way.end == "group" else os.kill)(_find_agent(self._home), signal.SIGKILL)
        return None

    @override
    def report(self, activity: Activity) -> None:
        self.activities.append(activity)

    @override
    async def keep_candidate(self, commit: CommitId) -> bool:
        return bool(commit)


def _find_agent(home: str) -> int:
    """The process that the supervisor in this home has started: its first child."""
    supervisor = json.loads(Path(home, PID_FILE).read_text(encoding="utf-8"))["pid"]
    return min(psutil.Process(supervisor).children(), key=lambda child: child.create_time()).pid


def _find_longest(home: str) -> int:
    """Bytes of the longest line that the session wrote."""
    return max(map(len, Path(home, OUTPUT_FILE).read_bytes().split(b"\n")))


def sum_tokens(usage: Usage | None) -> int:
    """Input and output together; 0 when they are not known."""
    return usage.input_tokens + usage.output_tokens if usage else 0
