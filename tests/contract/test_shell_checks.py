from __future__ import annotations

import asyncio
import os
import sys
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import psutil
import pytest

from whilly.adapters.shell.checks import ShellChecks
from whilly.adapters.shell.command import Window
from whilly.domain.change import CheckCommand
from whilly.domain.errors import NotFound
from whilly.domain.ids import AttemptId
from whilly.testing.contracts import ChecksContract

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from whilly.domain.attempt import Evidence
    from whilly.ports.checks import Checks

ATTEMPT = AttemptId("run-1/2")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands of these tests are those of a POSIX shell")

_LEAVE = "import os, sys, time; os.setsid(); open(sys.argv[1] + '.new', 'w').write(str(os.getpid()))"
_LEAVE += "; os.replace(sys.argv[1] + '.new', sys.argv[1]); time.sleep(60)"


def leave_session(pid_file: Path) -> str:
    """A command that leaves its session, writes its process id down and stays."""
    return f'{sys.executable} -c "{_LEAVE}" {pid_file}'


@pytest.fixture
def checkout(tmp_path: Path) -> str:
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "a").write_text("one\n")
    return str(folder)


def make(folder: Path, seconds: float = 30) -> ShellChecks:
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), "CI": "true"}
    state = str(folder / ".whilly")
    return ShellChecks(env=env, state=state, time_limit=timedelta(seconds=seconds), grace=timedelta(seconds=0.5))


@pytest.fixture
def checks(tmp_path: Path) -> Checks:
    return make(tmp_path)


async def fail(checks: Checks, checkout: str, command: str) -> Evidence:
    report = await checks.run(ATTEMPT, checkout, [CheckCommand(command)])
    assert report.failure is not None
    return report.failure


async def poll(is_so: Callable[[], bool]) -> None:
    for _ in range(1000):
        if await asyncio.to_thread(is_so):
            return
        await asyncio.sleep(0.01)
    pytest.fail("it did not come to pass within 10 s")


def has_ended(pid_file: Path) -> bool:
    try:
        return psutil.Process(int(pid_file.read_text())).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


class TestShellChecks(ChecksContract):
    pass


async def test_the_environment_is_the_given_one_and_the_two_marks(
    checks: Checks, checkout: str, tmp_path: Path
) -> None:
    output = (await fail(checks, checkout, "env; exit 1")).output
    names = {line.partition("=")[0] for line in output.splitlines()} - {"PWD", "SHLVL", "_", "OLDPWD"}
    assert names == {"PATH", "HOME", "CI", "WHILLY_ATTEMPT_ID", "WHILLY_STATE_DIR"}
    assert f"WHILLY_STATE_DIR={tmp_path}/.whilly" in output
    assert "WHILLY_ATTEMPT_ID=run-1/2" in output


async def test_standard_input_is_empty(checks: Checks, checkout: str) -> None:
    assert (await checks.run(ATTEMPT, checkout, [CheckCommand('test -z "$(cat)"')])).failure is None


async def test_output_and_errors_come_in_the_order_of_writing(checks: Checks, checkout: str) -> None:
    found = await fail(checks, checkout, "echo 1; echo 2 >&2; echo 3; echo 4 >&2; exit 1")
    assert found.output == "1\n2\n3\n4\n"


async def test_a_command_ended_by_a_signal_has_the_shells_code_for_it(checks: Checks, checkout: str) -> None:
    assert (await fail(checks, checkout, "kill -9 $$")).exit_code == 137


async def test_output_that_is_no_text_is_made_one(checks: Checks, checkout: str) -> None:
    found = await fail(checks, checkout, r"printf 'caf\351 \000 \033[31mred\033[0m\n'; exit 1")
    assert found.output == "caf\N{REPLACEMENT CHARACTER}  red\n"


@pytest.mark.parametrize("command", ["echo a\0b", "true " + "x" * 3_000_000, "echo \ud800"])
async def test_a_command_that_no_system_can_run_is_a_failure(checks: Checks, checkout: str, command: str) -> None:
    found = await fail(checks, checkout, command)
    assert found.exit_code == 126
    assert "cannot be run" in found.output
    assert len(found.summary) <= 300


async def test_a_checkout_that_is_gone_is_no_failure_of_the_command(checks: Checks, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="gone"):
        await checks.run(ATTEMPT, str(tmp_path / "gone"), [CheckCommand("true")])


async def test_a_missing_module_points_to_the_profiles_own_set_up(checks: Checks, checkout: str) -> None:
    commands = [
        CheckCommand("true", kind="setup"),
        CheckCommand("echo \"ModuleNotFoundError: No module named 'x'\"; exit 1"),
    ]
    report = await checks.run(ATTEMPT, checkout, commands)
    assert report.failure is not None
    assert report.failure.remedy == "true"


async def test_endless_output_ends_with_its_time_in_a_constant_amount_of_memory(checkout: str, tmp_path: Path) -> None:
    before = psutil.Process().memory_info().rss
    found = await fail(make(tmp_path, seconds=1.5), checkout, "yes")
    assert found.exit_code is None
    assert "did not end within 1.5 s" in found.summary
    assert len(found.output) <= 8000
    assert psutil.Process().memory_info().rss - before < 40_000_000


async def test_a_time_limit_ends_the_whole_tree_also_what_left_its_session(checkout: str, tmp_path: Path) -> None:
    pids = [tmp_path / name for name in ("stubborn", "own-session")]
    command = (
        f"(trap '' TERM; echo $(exec sh -c 'echo $PPID') > {pids[0]}; sleep 60 & wait; sleep 60) & "
        f"{leave_session(pids[1])} & sleep 60"
    )
    started = time.monotonic()
    assert (await fail(make(tmp_path, seconds=1.5), checkout, command)).exit_code is None
    assert time.monotonic() - started < 20
    assert [has_ended(pid) for pid in pids] == [True, True]


async def test_what_is_left_in_the_background_neither_holds_up_nor_survives(checkout: str, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    started = time.monotonic()
    report = await make(tmp_path, seconds=50).run(ATTEMPT, checkout, [CheckCommand(f"sleep 60 & echo $! > {pid}")])
    assert report.failure is None
    assert time.monotonic() - started < 20
    assert has_ended(pid)


async def test_a_service_that_set_up_starts_is_there_for_the_checks(
    checks: Checks, checkout: str, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    commands = [CheckCommand(f"sleep 60 & echo $! > {pid}", kind="setup"), CheckCommand(f"kill -0 $(cat {pid})")]
    assert (await checks.run(ATTEMPT, checkout, commands)).failure is None
    assert has_ended(pid)


async def test_cancelling_ends_the_whole_tree(checks: Checks, checkout: str, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    command = f"{leave_session(pid)} & sleep 60"
    task = asyncio.create_task(checks.run(ATTEMPT, checkout, [CheckCommand(command)]))
    await poll(pid.exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert has_ended(pid)


async def test_only_this_attempts_leftovers_are_ended_first(checks: Checks, checkout: str, tmp_path: Path) -> None:
    marks = {"PATH": "/usr/bin:/bin", "WHILLY_STATE_DIR": str(tmp_path / ".whilly")}
    others = [
        await asyncio.create_subprocess_exec("sleep", "60", env=marks | {"WHILLY_ATTEMPT_ID": name})
        for name in ("run-1/2", "run-1/3")
    ]
    look = "import psutil as p, sys; n = int(sys.argv[1]); exit(p.pid_exists(n) and p.Process(n).status() != 'zombie')"
    report = await checks.run(ATTEMPT, checkout, [CheckCommand(f'{sys.executable} -c "{look}" {others[0].pid}')])
    assert report.failure is None
    assert await others[0].wait() != 0
    assert others[1].returncode is None
    others[1].kill()
    await others[1].wait()


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_a_window_keeps_both_ends_of_a_stream(piece: int) -> None:
    window = Window(head=10, tail=20)
    data = bytes(range(48, 123)) * 40
    for start in range(0, len(data), piece):
        window.feed(data[start : start + piece])
    text = window.content()
    assert text.startswith(data[:10] + b"\n[")
    assert text.endswith(b"]\n" + data[-20:])
    assert f"{len(data) - 30} bytes left out".encode() in text


def test_a_window_keeps_a_short_stream_whole() -> None:
    window = Window(head=10, tail=20)
    window.feed(b"x" * 30)
    assert window.content() == b"x" * 30
