from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.shell.checks import ShellChecks
from whilly.testing.contracts import ChecksContract

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.ports.checks import Checks


@pytest.fixture
def checkout(tmp_path: Path) -> str:
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "a").write_text("one\n")
    return str(folder)


@pytest.fixture
def checks(tmp_path: Path) -> Checks:
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path), "CI": "true"}
    state = str(tmp_path / ".whilly")
    return ShellChecks(env=env, state=state, time_limit=timedelta(seconds=30), grace=timedelta(seconds=0.5))


class TestShellChecks(ChecksContract):
    pass
