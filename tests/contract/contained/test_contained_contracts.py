from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.shell.checks import ShellChecks
from whilly.testing.contracts import ChecksContract, RepositoryContract, WorkspaceContract

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.adapters.bubblewrap.sandbox import BubblewrapSandbox


class TestContainedRepository(RepositoryContract):
    pass


class TestContainedWorkspace(WorkspaceContract):
    pass


class TestContainedChecks(ChecksContract):
    @pytest.fixture
    def checkout(self, tmp_path: Path) -> str:
        folder = tmp_path / "checkout"
        folder.mkdir()
        (folder / "a").write_text("one\n")
        return str(folder)

    @pytest.fixture
    def checks(self, tmp_path: Path, sandbox: BubblewrapSandbox) -> ShellChecks:
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "CI": "true"}
        state = str(tmp_path / ".whilly")
        limit, grace = timedelta(seconds=60), timedelta(seconds=0.5)
        return ShellChecks(env=env, state=state, time_limit=limit, grace=grace, sandbox=sandbox)
