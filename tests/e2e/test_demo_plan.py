"""A whole plan with the demo agent: what people and programs see while it is worked on."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no sessions and no pseudo-terminals", allow_module_level=True)

from whilly.testing.terminal import TerminalProgram

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.e2e.conftest import Command

    from whilly.testing.scratch import ScratchRepository

TASKS = [
    {"id": "T-1", "description": "First [red]x[/red]", "key_files": ["a.txt"]},
    {"id": "T-2", "description": "Second", "key_files": ["a.txt"], "dependencies": ["T-1"]},
    {"id": "T-3", "description": "Third", "test_steps": ["echo no >&2; false"]},
    {"id": "T-4", "description": "Fourth", "dependencies": ["T-3"]},
]
SLOW = """
[agents.slow]
argv = ["{python}", "-c", "import time; print('thinking hard', flush=True); time.sleep(600)"]
"""
"""An agent that does not end by itself."""


@pytest.fixture(autouse=True)
def plan(scratch: ScratchRepository) -> None:
    scratch.write(scratch.root, {"tasks.json": json.dumps({"project": "Demo", "tasks": TASKS})})
    scratch.write(scratch.root, {"whilly.toml": SLOW.format(python=sys.executable)})


def test_programs_get_one_object_a_line(command: Command, scratch: ScratchRepository) -> None:
    told = command("run", "--agent", "demo")
    assert told.code == 1, told.err
    lines = [json.loads(line) for line in told.out.splitlines()]
    assert lines[0]["event"] == "plan_begun"
    complete = lines[-1]
    assert list(complete)[:8] == ["event", "done", "total", "failed", "cost_usd", "elapsed_sec", "report", "exit_code"]
    page = (Path(__file__).parents[2] / "docs" / "reference" / "events.md").read_text(encoding="utf-8")
    assert {key for line in lines for key in line if f"`{key}`" not in page} == set()
    assert (complete["done"], complete["total"], complete["failed"], complete["exit_code"]) == (2, 4, 1, 1)
    (progress, *_) = [line for line in lines if line["event"] == "progress"]
    assert list(progress) == ["event", "done", "total", "failed", "cost_usd", "elapsed_sec"]
    milestones = {(line.get("task_id"), line.get("milestone")) for line in lines}
    assert {
        (None, "plan_start"),
        ("T-1", "task_done"),
        ("T-2", "verification_passed"),
        ("T-3", "repair_started"),
        ("T-3", "task_failed"),
        ("T-4", "blocked"),
        (None, "plan_done"),
    } <= milestones
    report = scratch.root / complete["report"]
    assert report.read_text(encoding="utf-8").startswith("# Demo: 2 of 4 tasks done")
    assert json.loads(report.with_suffix(".json").read_text(encoding="utf-8"))["counts"]["done"] == 2
    assert command("why", "T-2").out.startswith("T-2 is done as commit ")
    assert json.loads(command("status", "--json").out)["counts"]["failed"] == 1


def test_people_see_it_live_and_find_a_summary_afterwards(
    scratch: ScratchRepository, environ: Mapping[str, str]
) -> None:
    env = {**environ, "TERM": "xterm-256color"}
    argv = [sys.executable, "-m", "whilly", "run", "--agent", "demo"]
    with closing(TerminalProgram(argv, str(scratch.root), env, (100, 30))) as program:
        program.wait_for(lambda display: display.is_alternate and "Running (" in display.text())
        assert "depends on T-1, which is running" in program.display.text()
        assert program.wait(120) == 1
        shown = program.display.text()
        assert "Demo: 2 of 4 done in " in shown
        assert "✗ T-3 failed: checks failed" in shown
        assert program.is_restored()
        assert program.display.unknown == []


def test_ctrl_c_ends_the_agents_and_gives_the_terminal_back(
    scratch: ScratchRepository, environ: Mapping[str, str], command: Command
) -> None:
    env = {**environ, "TERM": "xterm-256color"}
    argv = [sys.executable, "-m", "whilly", "run", "--agent", "slow"]
    with closing(TerminalProgram(argv, str(scratch.root), env, (100, 30))) as program:
        program.wait_for(lambda display: all(said in display.text() for said in ("thinking hard", "2 agents at work")))
        program.press(b"\x03")
        assert program.wait(60) == 130
        assert "stopped: interrupted" in program.display.text()
        assert program.is_restored()
    assert json.loads(command("status", "--json").out)["stop"] == "interrupted"
    assert command("why", "T-1").out.startswith("T-1 goes on when somebody works on the plan")
    # Nothing is left that could go on by itself.
    assert command("reset", "--yes").code == 0
