from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-e2e.lock")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    for name in ("scripts/lock.py", "pyproject.toml", *LOCKS):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def check_locks(checkout: Path) -> tuple[int, str]:
    command = [sys.executable, "scripts/lock.py", "--check"]
    done = subprocess.run(command, cwd=checkout, check=False, capture_output=True, text=True, encoding="utf-8")
    return done.returncode, done.stderr


def edit(path: Path, old: str, new: str) -> None:
    before = path.read_text(encoding="utf-8")
    assert old in before
    path.write_text(before.replace(old, new, 1), encoding="utf-8")


def test_locks_that_fit_are_accepted(checkout: Path) -> None:
    assert check_locks(checkout) == (0, "")


def test_a_dependency_that_is_not_locked_is_found(checkout: Path) -> None:
    edit(checkout / "pyproject.toml", "dependencies = [\n", 'dependencies = [\n    "attrs",\n')
    code, complaint = check_locks(checkout)
    assert code == 1
    assert [line.split()[0] for line in complaint.splitlines()] == list(LOCKS)


def test_other_changes_of_the_project_need_no_new_lock(checkout: Path) -> None:
    edit(checkout / "pyproject.toml", 'version = "', 'version = "1')
    assert check_locks(checkout) == (0, "")


def test_a_download_address_is_found(checkout: Path) -> None:
    edit(checkout / LOCKS[0], "\nclick==", "\n--index-url https://index.example/simple\nclick==")
    assert check_locks(checkout) == (1, "requirements.lock names a download address → run `make lock`\n")


def test_a_requirement_without_a_hash_is_found(checkout: Path) -> None:
    edit(checkout / LOCKS[1], "\nclick==", "\nattrs==25.1.0\nclick==")
    assert "requirements-dev.lock has no hash for attrs==25.1.0" in check_locks(checkout)[1]


def test_a_missing_lock_is_found(checkout: Path) -> None:
    (checkout / LOCKS[2]).unlink()
    assert check_locks(checkout) == (1, "requirements-e2e.lock is missing → run `make lock`\n")
