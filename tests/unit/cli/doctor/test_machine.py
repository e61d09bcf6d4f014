from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whilly.cli.doctor.checks.machine import judge_python, judge_sqlite
from whilly.cli.doctor.checks.storage import judge_room
from whilly.cli.doctor.finding import Fact, Finding, Severity
from whilly.engine.sqlite.journal import find_journal_fault

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.unit.cli.doctor.conftest import Clinic

    from whilly.cli.doctor.finding import Said

PYTHON_3_12 = 0x030C0000


def codes(said: Iterable[Said]) -> list[str]:
    return [each.code for each in said if isinstance(each, Finding)]


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ((3, 10), ["python_unsupported"]),
        ((3, 11), []),
        ((3, 14), []),
        ((3, 15), ["python_untried"]),
        ((4, 0), ["python_untried"]),
    ],
)
def test_python_is_one_that_whilly_is_tested_with(version: tuple[int, int], found: list[str]) -> None:
    assert codes(judge_python(version)) == found


def test_an_old_sqlite_is_a_problem_for_a_new_python_without_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysqlite3", None)
    (problem,) = judge_sqlite(PYTHON_3_12, (3, 40, 1))
    assert isinstance(problem, Finding)
    assert (problem.code, problem.remedy) == ("sqlite_unusable", "pip install pysqlite3-binary, or use Python 3.11")
    assert "Python 3.12 is built against SQLite 3.40.1" in problem.what
    assert codes(judge_sqlite(PYTHON_3_12, (3, 42, 0))) == []
    assert codes(judge_sqlite(PYTHON_3_12 - 1, (3, 40, 1))) == []


def test_the_other_sqlite_is_used_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysqlite3", sys.modules["sqlite3"])
    assert [type(each) for each in judge_sqlite(PYTHON_3_12, (3, 40, 1))] == [Fact]


def test_a_git_that_is_too_old_is_a_problem(clinic: Clinic) -> None:
    real = (clinic.programs / "git").resolve()
    clinic.program("git", f'#!/bin/sh\ncase "$*" in *--version) echo git version 2.20.1;; *) exec {real} "$@";; esac\n')
    found = clinic.look().find("git_unusable")
    assert "git is too old: git version 2.20.1" in found["what"]


def test_a_missing_git_is_one_problem_and_not_many(clinic: Clinic) -> None:
    (clinic.programs / "git").unlink()
    clinic.monkeypatch.setenv("PATH", str(clinic.programs))
    said = clinic.look()
    assert (said.code, said.codes) == (1, ["git_unusable"])


def test_a_git_that_cannot_be_run_is_a_problem(clinic: Clinic) -> None:
    clinic.program("git", "").write_bytes(b"\x7fELF")
    clinic.monkeypatch.setenv("PATH", str(clinic.programs))
    assert clinic.look().find("git_unusable")["severity"] == "problem"


def test_too_little_room_is_a_problem(tmp_path: Path) -> None:
    assert codes(judge_room(tmp_path, 1)) == []
    (problem,) = judge_room(tmp_path, shutil.disk_usage(tmp_path).free + 2**50)
    assert isinstance(problem, Finding)
    assert (problem.code, problem.subject) == ("disk_low", str(tmp_path))


def test_a_directory_for_temporary_files_that_is_not_there_is_a_problem(clinic: Clinic, tmp_path: Path) -> None:
    clinic.monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    assert clinic.look().find("temporary_unusable")["subject"] == str(tmp_path / "none")


def make_unwritable(state: Path) -> None:
    """A directory that even root cannot write to, where there is one."""
    if sys.platform == "linux":
        state.symlink_to("/proc/self")
    else:
        state.mkdir()
        state.chmod(0o500)


def test_a_state_directory_that_cannot_be_written_is_a_problem(clinic: Clinic) -> None:
    make_unwritable(clinic.state)
    said = clinic.look("--fix")
    assert said.find("state_unwritable")["severity"] == "problem"
    assert said.code == 1
    if not clinic.state.is_symlink():
        clinic.state.chmod(0o700)


def test_a_file_in_the_place_of_the_state_directory_is_a_problem(clinic: Clinic) -> None:
    clinic.state.write_text("", encoding="utf-8")
    assert "state_unwritable" in clinic.look("--fix").codes


def test_a_file_of_the_state_directory_that_is_not_ours_is_a_problem_and_stops_the_mending(clinic: Clinic) -> None:
    clinic.write({".whilly/.gitignore": "*\n", ".whilly/run.lock/of-somebody": "", ".whilly/run.json": "{}"})
    said = clinic.look("--fix")
    assert said.find("state_unwritable")["subject"] == str(clinic.state / "run.lock")
    assert (said.mended, [each["code"] for each in said.report["not_mended"]]) == ([], ["run_record_stale"])


def test_a_file_system_without_shared_memory_is_no_place_for_the_ledger(clinic: Clinic) -> None:
    # SQLite's layer of lock files stands for a file system without locks and shared memory.
    assert find_journal_fault(clinic.root, vfs="unix-dotfile") == "SQLite answers journal_mode=delete"
    assert find_journal_fault(clinic.root) == ""
    assert sorted(path.name for path in clinic.root.iterdir()) == [".git", "README.md"]


def test_a_ledger_that_cannot_have_its_log_is_a_problem() -> None:
    from whilly.cli.doctor.checks.storage import judge_journal  # noqa: PLC0415  (needed here only)

    (problem,) = judge_journal("SQLite answers journal_mode=delete", Path("place"))
    assert isinstance(problem, Finding)
    assert (problem.code, problem.severity) == ("journal_unusable", Severity.PROBLEM)
