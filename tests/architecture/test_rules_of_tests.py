"""The rules in `tests/conftest.py` catch what they are there for."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

LEAKS = """
import asyncio, logging, os, subprocess, sys
import pytest

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
KEPT = []

@pytest.fixture(autouse=True, scope="module")
def the_end():
    yield
    for thing in KEPT:
        thing.kill()
        thing.wait()

async def test_task():
    KEPT_TASKS.append(asyncio.ensure_future(asyncio.sleep(60)))

KEPT_TASKS = []

def test_child():
    KEPT.append(subprocess.Popen(SLEEP))

def test_handler():
    logging.getLogger("whilly").addHandler(logging.NullHandler())

def test_environment():
    os.environ["WHILLY_LEFT"] = "1"

async def test_clean(monkeypatch):
    monkeypatch.setenv("WHILLY_SET", "1")
    await asyncio.create_task(asyncio.sleep(0))
    subprocess.run([sys.executable, "-c", ""], check=True)
"""

DETACHED = """
import subprocess, sys

def test_detached(tmp_path):
    start = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])"
    subprocess.run([sys.executable, "-c", start], cwd=tmp_path, check=True)
"""

SKIPS = """
import pytest

def test_skipped():
    pytest.skip("no such program")

@pytest.mark.xfail(reason="known", strict=True)
def test_known():
    assert False
"""


@pytest.fixture
def run_tests(tmp_path: Path, root: Path) -> _Run:
    return _Run(tmp_path, root)


class _Run:
    """Runs a test file under the rules, in a process of its own; gives its exit code and output."""

    def __init__(self, home: Path, root: Path) -> None:
        self._home = home
        (home / "conftest.py").write_bytes((root / "tests" / "conftest.py").read_bytes())
        (home / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\naddopts = -ra\n", encoding="utf-8")

    def __call__(self, text: str, **environment: str) -> tuple[int, str]:
        (self._home / "test_it.py").write_text(text, encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "--basetemp",
            "tmp",
        ]
        done = subprocess.run(
            command, cwd=self._home, env=environment, check=False, capture_output=True, text=True, encoding="utf-8"
        )
        return done.returncode, done.stdout


def test_what_a_test_leaves_behind_is_reported_at_that_test(run_tests: _Run) -> None:
    code, output = run_tests(LEAKS)
    reported = re.findall(r"^ERROR test_it\.py::test_(\w+) - AssertionError: left behind", output, re.MULTILINE)
    assert (code, reported) == (1, ["task", "child", "handler", "environment"])


def test_a_detached_process_in_the_temporary_folder_fails_the_run(run_tests: _Run) -> None:
    code, output = run_tests(DETACHED)
    found = re.search(r"left behind: processes \['(\d+)", output)
    assert found is not None
    assert code == 1
    os.kill(int(found[1]), signal.SIGTERM)


def test_a_skip_is_listed_with_its_reason(run_tests: _Run) -> None:
    code, output = run_tests(SKIPS)
    assert (code, "no such program" in output) == (0, True)


def test_a_skip_fails_where_everything_is_required(run_tests: _Run) -> None:
    code, output = run_tests(SKIPS, WHILLY_REQUIRE_ALL="1")
    assert (code, "skipped although WHILLY_REQUIRE_ALL is set: Skipped: no such program" in output) == (1, True)
    assert "1 failed, 1 xfailed" in output


def test_a_module_that_skips_itself_fails_where_everything_is_required(run_tests: _Run) -> None:
    code, output = run_tests("import pytest\npytest.skip('not here', allow_module_level=True)", WHILLY_REQUIRE_ALL="1")
    assert (code, "skipped although WHILLY_REQUIRE_ALL is set" in output) == (2, True)
