from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.cli.doctor.conftest import Clinic


def test_a_bare_repository_is_a_problem(clinic: Clinic, tmp_path: Path) -> None:
    clinic.scratch.git("clone", "--quiet", "--bare", str(clinic.root), str(tmp_path / "bare"))
    clinic.monkeypatch.chdir(tmp_path / "bare")
    said = clinic.look()
    assert (said.code, "bare repository" in said.find("repository_unusable")["what"]) == (1, True)


def test_a_repository_without_a_commit_is_a_problem(clinic: Clinic, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    clinic.scratch.git("init", "--quiet", cwd=tmp_path / "empty")
    clinic.monkeypatch.chdir(tmp_path / "empty")
    found = clinic.look().find("repository_unusable")
    assert found["remedy"] == "git add --all && git commit -m start"


def test_a_repository_of_somebody_else_is_a_problem_with_gits_own_remedy(clinic: Clinic) -> None:
    real = (clinic.programs / "git").resolve()
    clinic.program("git", f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {real} "$@"\n')
    found = clinic.look().find("repository_unusable")
    assert found["remedy"] == f"git config --global --add safe.directory {clinic.root}"


def test_a_damaged_repository_is_a_problem(clinic: Clinic) -> None:
    (clinic.root / ".git" / "HEAD").unlink()
    assert "repository_unusable" in clinic.look("--fix").codes


def test_a_branch_in_the_way_of_ours_is_a_problem(clinic: Clinic) -> None:
    assert "branch_in_the_way" not in clinic.look().codes
    clinic.scratch.git("branch", "whilly")
    found = clinic.look().find("branch_in_the_way")
    assert (found["severity"], found["remedy"]) == ("problem", "git branch -m whilly NAME")


@pytest.mark.parametrize("how", ["setting", "detached"])
def test_a_base_branch_that_is_not_there_is_a_problem(clinic: Clinic, how: str) -> None:
    if how == "setting":
        clinic.write({"whilly.toml": '[repository]\nbase_branch = "release"\n'})
    else:
        clinic.scratch.git("switch", "--quiet", "--detach")
        clinic.scratch.git("branch", "--move", "main", "odd")
    assert clinic.look().find("base_branch_missing")["severity"] == "problem"


def test_what_is_unusual_is_a_note(clinic: Clinic, tmp_path: Path) -> None:
    clinic.scratch.commit("second")
    clinic.scratch.git("clone", "--quiet", "--depth=1", f"file://{clinic.root}", str(tmp_path / "shallow"))
    clinic.scratch.write(tmp_path / "shallow", {".gitmodules": "", ".gitattributes": "*.bin filter=lfs\n"})
    clinic.monkeypatch.chdir(tmp_path / "shallow")
    said = clinic.look()
    assert (said.code, said.codes) == (0, ["repository_unusual"] * 3)
    assert said.find("repository_unusual")["remedy"] == "git fetch --unshallow mends it"


def test_not_knowing_who_commits_is_a_note(clinic: Clinic) -> None:
    clinic.scratch.git("config", "--global", "--remove-section", "user")
    clinic.scratch.git("config", "--remove-section", "user")
    said = clinic.look()
    assert (said.code, said.codes) == (0, ["identity_missing"])


@pytest.mark.parametrize("ignore", [None, "!*\n# keep me"])
def test_a_state_directory_that_git_sees_is_hidden_from_it(clinic: Clinic, ignore: str | None) -> None:
    clinic.write({".whilly/whilly.toml": ""})
    if ignore is not None:
        clinic.write({".whilly/.gitignore": ignore})
    assert clinic.look().find("state_not_ignored")["fixable"]
    said = clinic.look("--fix")
    assert (said.code, said.codes, said.mended) == (0, [], ["state_not_ignored"])
    assert clinic.scratch.git("status", "--porcelain") == ""
    text = (clinic.state / ".gitignore").read_text(encoding="utf-8")
    assert text == (f"{ignore}\n*\n" if ignore else "*\n")
    assert clinic.look("--fix").mended == []
