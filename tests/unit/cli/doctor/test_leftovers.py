"""What dead runs leave: processes, workspaces, checkouts, entries on git's list, records."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from whilly.adapters.process.sessions import ProcessSessions
from whilly.domain.ids import AttemptId, CommitId
from whilly.domain.session import Launch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.cli.doctor.conftest import Clinic

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no supervised sessions on Windows")


@pytest.fixture
def strays() -> Iterator[list[subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def start_stray(clinic: Clinic, attempt: str, state: str | None = None) -> subprocess.Popen[bytes]:
    """A process with the marks of an attempt, and one that it has started."""
    clinic.state.mkdir(exist_ok=True)
    (clinic.state / ".gitignore").write_text("*\n", encoding="utf-8")
    marks = {"WHILLY_ATTEMPT_ID": attempt, "WHILLY_STATE_DIR": state or os.path.realpath(clinic.state)}
    process = subprocess.Popen(
        ["sh", "-c", "sleep 600 & echo; wait"],
        env={**marks, "PATH": os.defpath},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    with process.stdout:
        process.stdout.readline()
    return process


def test_processes_of_an_attempt_that_is_over_are_ended(clinic: Clinic, strays: list[subprocess.Popen[bytes]]) -> None:
    strays.append(start_stray(clinic, "gone/1"))
    child = psutil.Process(strays[0].pid).children()[0]
    found = clinic.look().find("processes_left")
    assert (found["subject"], f"({child.pid})" in found["what"], found["fixable"]) == ("gone/1", True, True)
    said = clinic.look("--fix")
    assert (said.code, said.codes, said.mended) == (0, [], ["processes_left"])
    strays[0].wait(5)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_a_session_under_a_supervisor_is_ended_whole(clinic: Clinic) -> None:
    sessions = ProcessSessions(str(clinic.project().state))
    home = str(clinic.state / "attempts" / "gone" / "1")
    clinic.project().prepare_state()
    asyncio.run(sessions.start(AttemptId("gone/1"), home, Launch(("sleep", "600"), "/", {"PATH": os.defpath})))
    assert clinic.look("--fix").mended == ["processes_left"]
    assert clinic.look().codes == []
    ended = asyncio.run(sessions.wait(home, 5))
    assert ended is not None
    assert ended.cause == "stopped"


def test_processes_of_a_current_attempt_and_of_other_repositories_are_left_alone(
    clinic: Clinic, strays: list[subprocess.Popen[bytes]]
) -> None:
    run = clinic.begin(clinic.plan())
    clinic.execute("UPDATE plans SET phase = 'idle', state = json_set(state, '$.phase', 'idle')")
    strays.append(start_stray(clinic, f"{run}/0"))
    strays.append(start_stray(clinic, "gone/1", "/somewhere/else"))
    said = clinic.look("--fix")
    assert (said.code, said.codes, said.mended) == (0, ["processes_waiting"], [])
    assert [process.poll() for process in strays] == [None, None]


def test_processes_of_a_run_that_has_ended_are_ended(clinic: Clinic, strays: list[subprocess.Popen[bytes]]) -> None:
    run = clinic.begin(clinic.plan())
    strays.append(start_stray(clinic, f"{run}/0"))
    assert "processes_waiting" in clinic.look().codes
    clinic.execute("UPDATE runs SET phase = 'ended', state = json_set(state, '$.phase', 'ended')")
    assert "processes_left" in clinic.look("--fix").mended
    strays[0].wait(5)


def test_a_workspace_of_an_unknown_run_is_put_away_with_all_that_is_in_it(clinic: Clinic) -> None:
    place = clinic.open_workspace("gone-1")
    clinic.scratch.write(place, {"a.txt": "committed"})
    commit = clinic.scratch.commit("work", cwd=place)
    clinic.scratch.write(place, {"b.txt": "not committed"})
    assert clinic.look().find("workspace_orphan")["subject"] == "gone-1"
    said = clinic.look("--fix")
    assert (said.code, said.mended) == (0, ["workspace_orphan"])
    assert said.codes == ["branch_unknown"]
    assert not place.exists()
    assert clinic.scratch.is_held(commit)
    assert clinic.scratch.git("log", "-1", "--format=%s", "whilly/A^") == "work"
    assert clinic.scratch.git("show", "whilly/A:b.txt") == "not committed"
    assert clinic.look("--fix").mended == []


def test_a_workspace_of_an_open_run_is_needed_and_one_of_a_closed_run_is_not(clinic: Clinic) -> None:
    run = clinic.begin(clinic.plan())
    place = clinic.open_workspace(run)
    clinic.look("--fix")
    assert place.is_dir()
    clinic.execute("UPDATE runs SET is_closed = 1, phase = 'ended', state = json_set(state, '$.phase', 'ended')")
    said = clinic.look("--fix")
    assert (said.code, said.codes, said.mended) == (0, [], ["workspace_orphan"])
    assert not place.exists()


def test_a_record_without_a_workspace_is_put_away(clinic: Clinic) -> None:
    place = clinic.open_workspace("gone-1")
    shutil.rmtree(place)
    assert set(clinic.look().codes) == {"workspace_orphan", "worktree_missing", "branch_unknown"}
    said = clinic.look("--fix")
    assert (said.code, said.codes, set(said.mended)) == (
        0,
        ["branch_unknown"],
        {"workspace_orphan", "worktree_missing"},
    )
    assert clinic.scratch.git("worktree", "list").count("\n") == 0


def test_what_was_only_in_a_work_tree_that_is_gone_is_held_before_git_forgets_it(
    clinic: Clinic, tmp_path: Path
) -> None:
    place = clinic.open_workspace("gone-1")
    clinic.scratch.git("switch", "--quiet", "--detach", cwd=place)
    clinic.scratch.write(place, {"a.txt": "detached"})
    commit = clinic.scratch.commit("detached", cwd=place)
    shutil.rmtree(clinic.state / "worktrees")
    elsewhere = tmp_path / "elsewhere"
    clinic.scratch.git("worktree", "add", "--quiet", "--detach", str(elsewhere))
    shutil.rmtree(elsewhere)
    said = clinic.look("--fix")
    assert (said.code, said.mended) == (0, ["worktree_missing"])
    assert clinic.scratch.is_held(commit)
    listed = clinic.scratch.git("worktree", "list", "--porcelain")
    assert (str(place) in listed, str(elsewhere) in listed) == (False, True)


def test_a_checkout_that_is_left_of_a_verification_is_removed(clinic: Clinic) -> None:
    project = clinic.project()
    head = CommitId(clinic.scratch.git("rev-parse", "HEAD"))
    loose = clinic.scratch.make_commit({"x": "1"}, head)
    place = Path(asyncio.run(project.repository.checkout(loose, "gone-1-2")))
    assert clinic.look().find("checkout_orphan")["subject"] == "gone-1-2"
    said = clinic.look("--fix")
    assert (said.code, said.codes, said.mended) == (0, [], ["checkout_orphan"])
    assert (place.exists(), clinic.scratch.is_held(loose)) == (False, True)


def test_a_checkout_that_is_kept_for_the_next_verification_is_no_finding(clinic: Clinic) -> None:
    repository = clinic.project().repository
    asyncio.run(repository.checkout(CommitId(clinic.scratch.git("rev-parse", "HEAD")), "gone-1-2"))
    asyncio.run(repository.discard("gone-1-2"))
    assert clinic.scratch.git("worktree", "list").count("\n") == 1
    assert clinic.look().codes == []


def test_a_checkout_that_the_current_attempt_would_make_again_is_no_finding(clinic: Clinic) -> None:
    run = clinic.begin(clinic.plan())
    project = clinic.project()
    head = CommitId(clinic.scratch.git("rev-parse", "HEAD"))
    place = Path(asyncio.run(project.repository.checkout(head, f"{run}-0")))
    said = clinic.look("--fix")
    assert (said.mended, place.is_dir()) == (["plan_active"], True)


def test_directories_that_git_does_not_know_are_left_to_people(clinic: Clinic) -> None:
    clinic.write({".whilly/.gitignore": "*\n", ".whilly/worktrees/odd/work.txt": "mine"})
    clinic.write({".whilly/checkouts/own/.git/HEAD": "ref: refs/heads/x"})
    said = clinic.look("--fix")
    assert (said.code, said.codes, said.mended) == (0, ["workspace_detached"] * 2, [])
    assert (clinic.state / "worktrees" / "odd" / "work.txt").exists()
    assert (clinic.state / "checkouts" / "own" / ".git" / "HEAD").exists()


def test_branches_that_the_ledger_does_not_know_are_a_note(clinic: Clinic) -> None:
    clinic.begin(clinic.plan())
    for name in ("whilly/A", "whilly/A-2", "whilly/target", "other/x"):
        clinic.scratch.git("branch", name)
    assert "branch_unknown" not in clinic.look().codes
    clinic.scratch.git("branch", "whilly/odd")
    clinic.look("--fix")
    found = clinic.look().find("branch_unknown")
    assert (found["severity"], found["what"].endswith(": whilly/odd")) == ("note", True)


def test_a_branch_in_whose_place_git_needs_a_folder_is_told(clinic: Clinic) -> None:
    clinic.scratch.git("branch", "whilly-else")
    assert "branch_in_the_way" not in clinic.look().codes
    clinic.scratch.git("branch", "whilly")
    found = clinic.look().find("branch_in_the_way")
    assert (found["subject"], found["remedy"]) == ("whilly", "git branch -m whilly NAME")


def test_the_record_of_a_dead_run_is_removed(clinic: Clinic) -> None:
    clinic.write({".whilly/.gitignore": "*\n", ".whilly/run.json": "{}", ".whilly/run.lock": ""})
    assert clinic.look().find("run_record_stale")["severity"] == "note"
    said = clinic.look("--fix")
    assert (said.codes, said.mended) == ([], ["run_record_stale"])
    assert not (clinic.state / "run.json").exists()


def test_what_the_predecessor_left_is_a_note_and_stays(clinic: Clinic) -> None:
    files = {".whilly_state.json": "{}", ".whilly_workspaces/a/b": "", ".whilly_worktrees/a/b": "", "whilly_logs/a": ""}
    clinic.write(files)
    said = clinic.look("--fix")
    assert (said.code, said.codes) == (0, ["predecessor_left"] * 4)
    assert all((clinic.root / name).exists() for name in files)


HOLD = """
import sys, pathlib
from datetime import UTC, datetime
from whilly.cli.run_lock import hold_lock
with hold_lock(pathlib.Path(sys.argv[1]), ("tasks.json",), datetime(2026, 1, 1, tzinfo=UTC)):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_nothing_is_touched_while_a_whilly_is_alive(clinic: Clinic, strays: list[subprocess.Popen[bytes]]) -> None:
    clinic.begin(clinic.plan())
    place = clinic.open_workspace("gone-1")
    strays.append(start_stray(clinic, "gone/1"))
    (clinic.state / ".gitignore").unlink()
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(clinic.state)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        record = (clinic.state / "run.json").read_bytes()
        said = clinic.look("--fix")
        assert said.codes == ["state_not_ignored", "whilly_at_work"]
        assert f"process {other.pid} on " in said.find("whilly_at_work")["what"]
        assert said.report["facts"]["at work"].startswith(f"process {other.pid} on ")
        assert (said.mended, said.report["not_mended"]) == ([], [])
        assert (clinic.state / "run.json").read_bytes() == record
        assert place.is_dir()
        assert strays[0].poll() is None
    said = clinic.look("--fix")
    assert set(said.mended) == {"state_not_ignored", "processes_left", "plan_active", "workspace_orphan"}
    assert (said.code, said.codes) == (0, [])


def test_everything_at_once_is_mended_at_once(clinic: Clinic, strays: list[subprocess.Popen[bytes]]) -> None:
    clinic.begin(clinic.plan())
    place = clinic.open_workspace("gone-1", "whilly/gone")
    shutil.rmtree(clinic.open_workspace("gone-2", "whilly/gone-two"))
    (clinic.state / "worktrees" / "gone-2.json").unlink()
    head = CommitId(clinic.scratch.git("rev-parse", "HEAD"))
    asyncio.run(clinic.project().repository.checkout(head, "gone-3-1"))
    strays.append(start_stray(clinic, "gone/1"))
    clinic.write({".whilly/run.json": json.dumps({"pid": 1, "host": "h", "started_at": "", "plans": []})})
    (clinic.state / ".gitignore").unlink()
    before = clinic.look()
    assert (before.code, before.report["problems"]) == (1, 6), before.codes
    said = clinic.look("--fix")
    assert (said.code, said.codes, said.report["not_mended"]) == (0, ["branch_unknown"], [])
    assert sorted(said.mended) == [
        *("checkout_orphan", "plan_active", "processes_left", "run_record_stale"),
        *("state_not_ignored", "workspace_orphan", "worktree_missing"),
    ]
    assert not place.exists()
    assert clinic.look("--fix").mended == []


def test_what_was_put_away_and_is_still_there_is_removed(clinic: Clinic) -> None:
    clinic.project().prepare_state()
    (clinic.state / "gone" / "run-1~0" / "build").mkdir(parents=True)
    found = clinic.look().find("leftover_stuck")
    assert (found["subject"], ".whilly/gone/run-1~0" in found["what"], found["fixable"]) == ("run-1~0", True, True)
    said = clinic.look("--fix")
    assert (said.code, said.mended) == (0, ["leftover_stuck"])
    assert not list((clinic.state / "gone").iterdir())
