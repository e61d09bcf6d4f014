from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.git.delivery.trees import GitTrees
from whilly.adapters.memory.clock import ManualClock
from whilly.adapters.shell.checks import ShellChecks
from whilly.testing.contracts import ChecksContract, RepositoryContract, WorkspaceContract
from whilly.testing.contracts.delivery.trees import TreesContract

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.adapters.bubblewrap.sandbox import BubblewrapSandbox
    from whilly.ports.delivery.trees import Trees
    from whilly.testing.contained_world import ContainedWorld


class TestContainedRepository(RepositoryContract):
    pass


class TestContainedWorkspace(WorkspaceContract):
    pass


class TestContainedTrees(TreesContract):
    @pytest.fixture
    def trees(self, world: ContainedWorld) -> Trees:
        return GitTrees(world.inner.git, world.inner.layout, ManualClock())


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
