from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.adapters.git.delivery.trees import GitTrees
from whilly.adapters.memory.clock import ManualClock
from whilly.testing.contracts import RepositoryContract, WorkspaceContract
from whilly.testing.contracts.delivery.trees import TreesContract

if TYPE_CHECKING:
    from whilly.ports.delivery.trees import Trees
    from whilly.testing.git_world import GitWorld


class TestGitRepository(RepositoryContract):
    pass


class TestGitWorkspace(WorkspaceContract):
    pass


class TestGitTrees(TreesContract):
    @pytest.fixture
    def trees(self, world: GitWorld) -> Trees:
        return GitTrees(world.git, world.layout, ManualClock())
