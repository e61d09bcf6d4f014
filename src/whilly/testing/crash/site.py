"""A repository with a plan and an agent, in which Whilly is killed; what its ledger, git and processes say."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from whilly.config.environment import process_environment
from whilly.testing.scratch import ScratchRepository
from whilly.transport.process.census import STATE_VARIABLE

AGENT = Path(__file__).with_name("agent.py")
SETTINGS = """\
[machine]
max_cpu_percent = 0
[run]
parallel = 3
[agent]
name = "scripted"
[agents.scripted]
argv = {argv}
output = "jsonl"
cost = "reported"
"""
TASKS: tuple[Mapping[str, Any], ...] = (
    {"id": "base", "description": "Comes first", "priority": "critical", "key_files": ["docs/"]},
    {"id": "repair", "description": "Fails its check once", "test_steps": ["grep -q right answer.txt"]},
    {"id": "conflict-1", "description": "Changes the shared file"},
    {"id": "conflict-2", "description": "Changes it too"},
    {"id": "overlap", "description": "Claims a file of the first", "key_files": ["docs/a.md"]},
    {"id": "after", "description": "Comes after the first", "dependencies": ["base"]},
    {"id": "fail", "description": "Can never pass", "test_steps": ["false"]},
    {"id": "blocked", "description": "Needs what fails", "dependencies": ["fail"]},
)
OTHER: tuple[Mapping[str, Any], ...] = ({"id": "other", "description": "Of another plan"},)
SLOW: tuple[Mapping[str, Any], ...] = (
    {"id": "slow", "description": "Waits until it is told to go on"},
    {"id": "later", "description": "Comes after it", "dependencies": ["slow"]},
)
PERSON: tuple[Mapping[str, Any], ...] = (
    {"id": "person", "description": "In somebody's hands", "agent": "handoff"},
    {"id": "later", "description": "Comes after it", "dependencies": ["person"]},
)
OUTCOME = {task["id"]: "done" for task in TASKS} | {"fail": "failed", "blocked": "blocked"}
"""The statuses that an undisturbed run leaves."""


@dataclass(frozen=True)
class Facts:
    """What the ledger holds at one moment.

    Attributes:
        spend: what each attempt has cost, in millionths; None while it is under way.
    """

    statuses: Mapping[str, str] = field(default_factory=dict)
    attempts: tuple[tuple[str, int, str | None, str], ...] = ()
    spend: Mapping[tuple[str, int], int | None] = field(default_factory=dict)
    reserved: frozenset[tuple[str, int]] = frozenset()
    open_runs: int = 0
    phases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Site:
    """One repository for one kill."""

    repository: ScratchRepository
    folder: Path

    @classmethod
    def make(cls, folder: Path) -> Site:
        """A repository with the plans `tasks.json`, `other.json`, `person.json` and `slow.json`."""
        site = cls(ScratchRepository.make(folder), folder)
        argv = [sys.executable, "-I", "-S", str(AGENT), str(site.agent_log)]
        files = {
            "whilly.toml": SETTINGS.format(argv=json.dumps(argv)),
            "tasks.json": json.dumps({"project": "Crash", "tasks": TASKS}, indent=1),
            "other.json": json.dumps({"project": "Other", "tasks": OTHER}, indent=1),
            "person.json": json.dumps({"project": "Person", "tasks": PERSON}, indent=1),
            "slow.json": json.dumps({"project": "Slow", "tasks": SLOW}, indent=1),
            "shared.txt": "start\n",
            ".gitignore": ".whilly/\n",
        }
        site.repository.write(site.root, files)
        site.repository.commit("a plan")
        return site

    @property
    def root(self) -> Path:
        """The work tree."""
        return self.repository.root

    @property
    def agent_log(self) -> Path:
        """What agents did: `started ATTEMPT`, `committed COMMIT`."""
        return self.folder / "agents.log"

    @property
    def passings(self) -> Path:
        """Points that processes passed, in order: name and time."""
        return self.folder / "passings.log"

    def start(self, *words: str, fuse: str = "-") -> subprocess.Popen[bytes]:
        """Start `whilly WORDS…`, which ends where the fuse says."""
        environment = {**self.repository.env, "PATH": process_environment()["PATH"]}
        command = [sys.executable, "-m", "whilly.testing.crash.fuse", str(self.passings), fuse, "--", *words]
        with (self.folder / "output.log").open("ab") as log:
            return subprocess.Popen(  # noqa: S603  (our own program)
                command, cwd=self.root, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def call(self, *words: str, fuse: str = "-", limit: float = 120) -> int | None:
        """Run `whilly WORDS…` to its end; its exit code, None when it did not end in time and was killed."""
        process = self.start(*words, fuse=fuse)
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None

    def passed(self) -> list[tuple[str, float]]:
        """The points that were passed so far, with the machine's monotonic clock."""
        if not self.passings.exists():
            return []
        lines = self.passings.read_text(encoding="utf-8").splitlines()
        return [(name, float(at)) for name, _, at in (line.rpartition(" ") for line in lines)]

    def said(self, word: str) -> list[str]:
        """What agents left in their log under this word."""
        if not self.agent_log.exists():
            return []
        lines = self.agent_log.read_text(encoding="utf-8").splitlines()
        return [line.removeprefix(word).strip() for line in lines if line.startswith(f"{word} ")]

    def read(self) -> Facts:
        """The ledger as it is now, whoever is writing it; read without any code of Whilly's."""
        path = self.root / ".whilly" / "whilly.db"
        if not path.exists():
            return Facts()
        connection = sqlite3.connect(path, timeout=30)
        try:
            return _read(connection)
        except sqlite3.OperationalError:
            # Killed before the tables were there.
            return Facts()
        finally:
            connection.close()

    def processes(self) -> list[psutil.Process]:
        """Processes that Whilly has started for this repository, whoever is their parent now."""
        state = os.path.realpath(self.root / ".whilly")
        return [process for process in psutil.process_iter() if _find_state(process) == state]

    def leftovers(self, patience: float = 3.0) -> list[str]:
        """Processes that are still there after a moment, described; they are ended."""
        deadline = time.monotonic() + patience
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.05)
        described = [f"{process.pid} {' '.join(process.cmdline())[:120]}" for process in left if process.is_running()]
        for process in left:
            process.kill()
        return described


def _find_state(process: psutil.Process) -> str | None:
    try:
        is_dead = process.status() == psutil.STATUS_ZOMBIE
        return None if is_dead else process.environ().get(STATE_VARIABLE)
    except (psutil.Error, OSError):
        return None


def _read(connection: sqlite3.Connection) -> Facts:
    def ask(query: str) -> list[Any]:
        return connection.execute(query).fetchall()

    money = ask("SELECT run, number, settled, basis FROM spend")
    return Facts(
        statuses=dict(ask("SELECT id, status FROM work_items ORDER BY position")),
        attempts=tuple(ask("SELECT run, number, outcome, agent FROM attempts ORDER BY run, number")),
        spend={(run, number): settled for run, number, settled, _ in money},
        reserved=frozenset((run, number) for run, number, _, basis in money if basis == "reserved"),
        open_runs=ask("SELECT count(*) FROM runs WHERE NOT is_closed")[0][0],
        phases=tuple(phase for (phase,) in ask("SELECT phase FROM plans ORDER BY id")),
    )
