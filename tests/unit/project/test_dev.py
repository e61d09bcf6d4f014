from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-e2e.lock")


class Checkout:
    """A copy of what `dev.py` needs, with a `.venv` whose Python only writes down what it is asked."""

    def __init__(self, home: Path) -> None:
        self._home = home
        for name in ("dev.py", "pyproject.toml", *LOCKS):
            shutil.copy(ROOT / name, home)
        self._asked = home / "asked.txt"
        python = home / ".venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\necho "$*" >> "{self._asked}"\n', encoding="utf-8")
        python.chmod(0o755)

    def run(self, *arguments: str) -> list[str]:
        """What the set-up Python was asked to do."""
        self._asked.unlink(missing_ok=True)
        subprocess.run([sys.executable, "dev.py", *arguments], cwd=self._home, check=True, capture_output=True)
        asked = self._asked.read_text(encoding="utf-8").splitlines()
        return [line for line in asked if not line.startswith("-c")]

    def change_lock(self, name: str) -> None:
        with (self._home / name).open("a", encoding="utf-8") as lock:
            lock.write("# changed\n")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    if sys.platform == "win32":
        pytest.skip("the stand-in for Python is a shell script")
    return Checkout(tmp_path)


def run_dev(preparation: str, *arguments: str) -> tuple[int, str]:
    """Exit code and complaint of `dev.py` in a Python that was prepared first."""
    code = f"{preparation}; import runpy; runpy.run_path('dev.py', run_name='__main__')"
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, encoding="utf-8")
    return done.returncode, done.stderr


def test_everything_is_installed_once_from_the_lock(checkout: Checkout) -> None:
    first = checkout.run("setup")
    assert [line.split()[:3] for line in first] == [["-m", "pip", "install"]] * 2
    assert "--require-hashes --requirement" in first[0]
    assert "requirements-dev.lock" in first[0]
    assert checkout.run("setup") == []


def test_a_changed_lock_is_installed_again(checkout: Checkout) -> None:
    checkout.run("setup")
    checkout.change_lock("requirements-dev.lock")
    assert len(checkout.run("setup")) == 2


def test_a_larger_lock_holds_the_smaller_one(checkout: Checkout) -> None:
    checkout.run("setup", "--e2e")
    assert checkout.run("setup") == []


def test_arguments_of_test_go_to_pytest(checkout: Checkout) -> None:
    checkout.run("setup")
    assert checkout.run("test", "-k", "name") == ["-m pytest -n auto -k name"]


def test_an_old_python_is_told_what_to_do() -> None:
    code, complaint = run_dev("import sys; sys.version_info = (3, 9, 2)", "setup")
    assert (code, "is too old → " in complaint, "Traceback" in complaint) == (1, True, False)


def test_a_python_without_venv_is_told_which_package_it_lacks() -> None:
    code, complaint = run_dev("import sys; sys.modules['ensurepip'] = None", "setup")
    assert (code, "apt install python3." in complaint, "Traceback" in complaint) == (1, True, False)


def test_a_machine_without_git_is_told_so() -> None:
    code, complaint = run_dev("import shutil; shutil.which = lambda name: None", "try")
    assert (code, "git is not on PATH → " in complaint, "Traceback" in complaint) == (1, True, False)
