"""A whole plan with the real Claude Code, a scripted model and real git: every way a task can go."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from whilly.testing.models.script import Script, bash, say, write
from whilly.testing.scratch import ScratchRepository

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from whilly.testing.models.scripted import ScriptedModel

TURN_USD = 0.00375
SETTINGS = """
[machine]
max_cpu_percent = 0
[run]
parallel = 4
max_attempts = 2
[agent]
model = "claude-sonnet-4-5"
[agents.claude]
"""
DONE = say("Done.\n\n<promise>COMPLETE</promise>")
TASKS: list[dict[str, Any]] = [
    {"id": "E", "description": "Add E to the list", "priority": "critical", "test_steps": ["grep -q E list.txt"]},
    {"id": "F", "description": "Add F to the list", "priority": "critical", "test_steps": ["grep -q F list.txt"]},
    {"id": "G", "description": "Set the colour", "priority": "critical"},
    {"id": "H", "description": "Set the colour, too", "priority": "critical"},
    {"id": "A", "description": "Write alpha", "key_files": ["alpha.txt"], "test_steps": ["grep -q alpha alpha.txt"]},
    {"id": "B", "description": "Write beta", "dependencies": ["A"], "test_steps": ["grep -q beta beta.txt"]},
    {"id": "C", "description": "Write shared", "key_files": ["shared/c.txt"]},
    {"id": "D", "description": "Write shared, too", "key_files": ["shared/"]},
    {"id": "I", "description": "Do nothing at all"},
    {"id": "J", "description": "Needs I", "dependencies": ["I"]},
]
SCRIPTS = (
    # The second of E and F, and of G and H, meets the change of the first: its conversation holds two answers already.
    Script("- list.txt", (bash("printf 'one\\nE\\nF\\ntwo\\n' > list.txt"), DONE), start=2),
    Script("- colour.txt", (DONE, DONE), start=2),
    Script("## A check fails", (bash("echo beta > beta.txt"), DONE), start=2),
    Script("# Task E", (bash("printf 'one\\nE\\ntwo\\n' > list.txt"), DONE)),
    Script("# Task F", (bash("printf 'one\\nF\\ntwo\\n' > list.txt"), DONE)),
    Script("# Task G", (bash("echo red > colour.txt"), DONE)),
    Script("# Task H", (bash("echo blue > colour.txt"), DONE)),
    Script("# Task A", (write("alpha.txt", "alpha\n"), DONE)),
    Script("# Task B", (write("beta.txt", "not it\n"), DONE)),
    Script("# Task C", (bash("mkdir -p shared && echo c > shared/c.txt && git add -A && git commit -qm c"), DONE)),
    Script("# Task D", (bash("mkdir -p shared && echo d > shared/d.txt && echo stray > stray.txt"), DONE)),
    Script("# Task I", (DONE, DONE)),
)


@dataclass(frozen=True, slots=True)
class Ended:
    """What one `whilly` left."""

    code: int
    out: str
    err: str


@pytest.fixture
def repository(tmp_path: Path) -> ScratchRepository:
    scratch = ScratchRepository.make(tmp_path)
    scratch.write(scratch.root, {"list.txt": "one\ntwo\n", "colour.txt": "white\n"})
    scratch.write(scratch.root, {"tasks.json": json.dumps({"project": "all ways", "tasks": TASKS})})
    scratch.commit("plan")
    return scratch


@pytest.fixture
def whilly(repository: ScratchRepository, test_environment: Mapping[str, str]) -> Callable[..., Ended]:
    """Run the installed command in the repository, with an environment made from nothing."""

    def run(*words: str, **environ: str) -> Ended:
        env = {"PATH": test_environment["PATH"], "HOME": str(repository.home), **environ}
        command = [sys.executable, "-m", "whilly", *words]
        ended = subprocess.run(command, cwd=repository.root, env=env, capture_output=True, text=True, check=False)
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    return run


def statuses(whilly: Callable[..., Ended]) -> dict[str, str]:
    report = json.loads(whilly("report", "--format", "json").out)
    return {item["id"]: item["status"] for item in report["items"]}


def test_every_way_that_a_task_can_go(
    repository: ScratchRepository,
    whilly: Callable[..., Ended],
    scripted_model: Callable[..., ScriptedModel],
    claude_program: str,
) -> None:
    repository.write(repository.root, {"whilly.toml": SETTINGS + f'program = "{claude_program}"\n'})
    before = repository.git("status", "--porcelain"), repository.git("rev-parse", "main")
    with scripted_model(*SCRIPTS) as model:
        ended = whilly("run", "--headless", ANTHROPIC_BASE_URL=model.url, ANTHROPIC_API_KEY="test-key")

    assert ended.code == 1, ended.err
    by_status = statuses(whilly)
    loser = "H" if by_status["G"] == "done" else "G"
    assert by_status == {
        **dict.fromkeys("ABCDEFGH", "done"),
        loser: "failed",
        "I": "failed",
        "J": "blocked",
    }
    assert (repository.git("status", "--porcelain"), repository.git("rev-parse", "main")) == before

    log = repository.git(
        "log", "--format=%(trailers:key=Whilly-Item,valueonly,separator=%x2C)", "main..whilly/all-ways"
    )
    assert sorted(log.split()) == sorted(set("ABCDEFGH") - {loser})
    merged = {
        path: repository.git("show", f"whilly/all-ways:{path}")
        for path in ("alpha.txt", "beta.txt", "list.txt", "colour.txt", "shared/c.txt", "shared/d.txt")
    }
    assert merged == {
        "alpha.txt": "alpha",
        "beta.txt": "beta",
        "list.txt": "one\nE\nF\ntwo",
        "colour.txt": "red" if loser == "H" else "blue",
        "shared/c.txt": "c",
        "shared/d.txt": "d",
    }
    assert repository.git("rev-parse", "--verify", "--quiet", f"whilly/{loser}^{{commit}}")
    assert repository.git("for-each-ref", "--format=%(refname:short)", "refs/heads/whilly/A") == ""
    assert repository.git("worktree", "list", "--porcelain").count("worktree ") == 1


def test_what_it_says_afterwards_is_true(
    repository: ScratchRepository,
    whilly: Callable[..., Ended],
    scripted_model: Callable[..., ScriptedModel],
    claude_program: str,
) -> None:
    tasks = [task for task in TASKS if task["id"] in {"A", "B", "D"}]
    repository.write(repository.root, {"tasks.json": json.dumps({"project": "money", "tasks": tasks})})
    repository.write(repository.root, {"whilly.toml": SETTINGS + f'program = "{claude_program}"\n'})
    with scripted_model(*SCRIPTS) as model:
        ended = whilly("run", "--headless", ANTHROPIC_BASE_URL=model.url, ANTHROPIC_API_KEY="test-key")
    assert ended.code == 0, ended.err
    report = json.loads(whilly("report", "--format", "json").out)
    items = {item["id"]: item for item in report["items"]}
    assert {name: item["cost_usd"] for name, item in items.items()} == {
        "A": pytest.approx(2 * TURN_USD),
        "B": pytest.approx(4 * TURN_USD),
        "D": pytest.approx(2 * TURN_USD),
    }
    assert items["D"]["outside_claims"] == ["stray.txt"]
    complete = json.loads(ended.out.splitlines()[-1])
    assert (complete["event"], complete["exit_code"]) == ("complete", 0)
    assert complete["cost_usd"] == pytest.approx(8 * TURN_USD)
