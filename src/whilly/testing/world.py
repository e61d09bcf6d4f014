"""The world around an engine, in memory: a repository, agents that play scripts, a clock that is moved by hand."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.adapters.command.agent import CommandAgent
from whilly.adapters.command.descriptor import AgentDescriptor
from whilly.adapters.handoff.agent import HandoffAgent
from whilly.adapters.memory.checks import MemoryChecks
from whilly.adapters.memory.clock import ManualClock
from whilly.adapters.memory.handoffs import MemoryHandoffs
from whilly.adapters.memory.history import MemoryHistory
from whilly.adapters.memory.machine import MemoryMachine
from whilly.adapters.memory.repository import MemoryRepository
from whilly.adapters.memory.sessions import MemorySessions, Play
from whilly.adapters.memory.workspace import MemoryWorkspace
from whilly.application.attempt_context import Ports, Rules
from whilly.config.pipelines import load_pipelines
from whilly.domain.attempt import Outcome
from whilly.domain.ids import ItemId
from whilly.domain.session import COMPLETION_MARKER, Launch
from whilly.domain.work_item import WorkItem

if TYPE_CHECKING:
    from whilly.domain.ids import AttemptId

MAIN = "refs/heads/main"
NOWHERE = Path("/nowhere")
_AGENT = AgentDescriptor(
    name="demo", program=sys.executable, argv=("{program}", "{resume}"), output="jsonl", cost="reported"
)
"""It is never started: sessions in memory play scripts."""
Script = Callable[["Scene"], Play]


def item(name: str, *needs: str, files: tuple[str, ...] = (), steps: tuple[str, ...] = ()) -> WorkItem:
    """A work item with these dependencies, claims and checks."""
    needed = tuple(ItemId(each) for each in needs)
    return WorkItem(ItemId(name), f"Do {name}", dependencies=needed, key_files=files, test_steps=steps)


def say(
    outcome: Outcome = Outcome.COMPLETED,
    reason: str = "",
    cost: str | None = "0.10",
    message: str = COMPLETION_MARKER,
    session: str = "",
    **more: object,
) -> Play:
    """A session that says this of itself and ends."""
    result = {"type": "result", "outcome": outcome, "reason": reason, "message": message, "cost_usd": cost, **more}
    if cost is not None:
        result["cost_usd"] = float(cost)
    lines = [{"type": "start", "session": session}, {k: v for k, v in result.items() if v is not None}]
    return Play("".join(json.dumps(line) + "\n" for line in lines).encode())


@dataclass(frozen=True, slots=True)
class Scene:
    """One session, as its script sees it.

    Attributes:
        number: of the attempt.
        files: the workspace.
    """

    item: ItemId
    number: int
    files: dict[str, str]
    prompt: str
    launch: Launch


def work(scene: Scene) -> Play:
    """What an agent does that nobody told otherwise: one more line in a file of its item's own name."""
    path = f"{scene.item}.txt"
    scene.files[path] = scene.files.get(path, "") + f"{scene.item} was here\n"
    return say()


def hang(scene: Scene) -> Play:
    """Work, and never end."""
    return Play(work(scene).output, exit=None)


@dataclass
class World:
    """Everything that outlives an engine: the repository, the processes, the clock, the ledger's address."""

    url: str
    clock: ManualClock = field(default_factory=ManualClock)
    scripts: dict[tuple[str, int], Script] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)
    default: Script = work
    agents: tuple[str, ...] = ("demo",)
    passed: list[str] = field(default_factory=list)
    scenes: list[Scene] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.history = MemoryHistory()
        self.history.refs[MAIN] = self.history.make_commit({"README": "hello\n"}, message="first")
        self.repository = MemoryRepository(self.history)
        self.workspace = MemoryWorkspace(self.history)
        self.sessions = MemorySessions(self._play)
        self.machine = MemoryMachine()
        self.handoffs = MemoryHandoffs(self.clock)
        self.checks = MemoryChecks(self.history.folders)
        self.pipelines = load_pipelines(NOWHERE, max_attempts=3)

    def _play(self, attempt: AttemptId, launch: Launch) -> Play:
        prompt = launch.stdin or ""
        facts = next(line for line in prompt.splitlines() if line.startswith("whilly-item:"))
        item = ItemId(json.loads(facts.removeprefix("whilly-item:"))["id"])
        number = int(attempt.rpartition("/")[2])
        scene = Scene(item, number, self.history.folders[launch.cwd], prompt, launch)
        self.scenes.append(scene)
        return self.scripts.get((item, number), self.default)(scene)

    def ports(self) -> Ports:
        """The world as the engine sees it."""
        return Ports(
            repository=self.repository,
            workspace=self.workspace,
            sessions=self.sessions,
            handoffs=self.handoffs,
            checks=self.checks,
            agents={name: CommandAgent(_AGENT, {}) for name in self.agents} | {"person": HandoffAgent("person")},
            clock=self.clock,
            machine=self.machine,
            checkpoint=self.passed.append,
        )

    # What was left in the repository

    def log(self, branch: str = MAIN) -> list[str]:
        """Messages of the target's commits, newest first, without the first one."""
        found, commit = [], self.history.refs[branch]
        while self.history.commits[commit].parents:
            found.append(self.history.commits[commit].message)
            commit = self.history.commits[commit].parents[0]
        return found

    def integrated(self) -> list[str]:
        """The items whose commits the target holds, oldest first; twice when it holds two."""
        trailers = [line for message in self.log() for line in message.splitlines() if line.startswith("Whilly-Item: ")]
        return [line.removeprefix("Whilly-Item: ") for line in reversed(trailers)]

    def files(self) -> Mapping[str, str]:
        """What the target holds."""
        return self.history.commits[self.history.refs[MAIN]].files
