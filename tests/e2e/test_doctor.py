"""A `whilly run` that is killed while its agents work, and the doctor afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from whilly.transport.process.census import find_carriers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.e2e.conftest import Command

    from whilly.testing.scratch import ScratchRepository

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no sessions")

SETTINGS = """
[agent]
name = "slow"
[agents.slow]
argv = ["sh", "-c", "echo half > done.txt; touch ../../started; exec sleep 600"]
version_args = ["-c", "echo slow 1"]
"""
TASKS = json.dumps({"project": "killed", "tasks": [{"id": "A", "description": "Never ends"}]})
PATIENCE_S = 60


def look(command: Command, *words: str) -> tuple[int, dict[str, Any]]:
    told = command("doctor", "--json", *words)
    return told.code, json.loads(told.out)


def codes(report: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in report["findings"]]


def kill_while_agents_work(scratch: ScratchRepository, environ: Mapping[str, str]) -> None:
    argv = [sys.executable, "-m", "whilly", "run", "--headless"]
    with subprocess.Popen(argv, cwd=scratch.root, env=environ, stdout=subprocess.DEVNULL) as run:
        deadline = time.monotonic() + PATIENCE_S
        while not (scratch.root / ".whilly" / "started").exists():
            assert run.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        run.send_signal(signal.SIGKILL)


def test_what_a_killed_run_left_is_named_and_put_in_order(
    scratch: ScratchRepository, environ: Mapping[str, str], command: Command
) -> None:
    scratch.git("config", "--global", "user.name", "Ada")
    scratch.git("config", "--global", "user.email", "ada@example.org")
    scratch.write(scratch.root, {"whilly.toml": SETTINGS, "tasks.json": TASKS})
    scratch.commit("plan")
    assert codes(look(command)[1]) == []

    kill_while_agents_work(scratch, environ)
    code, report = look(command)
    assert (code, codes(report)) == (1, ["plan_active", "processes_waiting", "run_record_stale"])

    # The agent is left alone as long as somebody may go on with it.
    code, report = look(command, "--fix")
    assert (code, codes(report)) == (0, ["processes_waiting"])

    # Then nobody may, any more.
    assert command("reset", "--yes").code == 0
    look(command, "--fix")
    assert list(find_carriers(os.path.realpath(scratch.root / ".whilly"), lambda _: True)) == []

    (scratch.root / ".whilly" / "whilly.db").unlink()
    code, report = look(command, "--fix")
    assert (code, [each["code"] for each in report["mended"]]) == (0, ["workspace_orphan"])
    assert scratch.git("show", "whilly/A:done.txt") == "half"
    assert scratch.git("worktree", "list").count("\n") == 0
