from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.adapters.memory.checks import MemoryChecks
from whilly.adapters.memory.history import MemoryHistory
from whilly.adapters.memory.repository import MemoryRepository
from whilly.adapters.memory.trees import MemoryTrees
from whilly.adapters.memory.workspace import MemoryWorkspace
from whilly.testing.contracts import ChecksContract, RepositoryContract, WorkspaceContract
from whilly.testing.contracts.delivery.trees import TreesContract

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.ids import CommitId
    from whilly.ports.checks import Checks
    from whilly.ports.delivery.trees import Trees


class MemoryWorld:
    def __init__(self) -> None:
        self.history = MemoryHistory()
        self.repository = MemoryRepository(self.history)
        self.workspace = MemoryWorkspace(self.history)
        self.history.refs["refs/heads/main"] = self.history.make_commit({"README.md": "one\n"})
        self.history.checked_out["main"] = "/home/ada/project"
        self.is_held = self.history.is_held

    def make_commit(self, files: Mapping[str, str | None], *parents: CommitId) -> CommitId:
        before = self.files_of(parents[0]) if parents else {}
        after = {**before, **files}
        return self.history.make_commit({k: v for k, v in after.items() if v is not None}, parents)

    def set_ref(self, ref: str, commit: CommitId) -> None:
        self.history.refs[ref] = commit

    def refs(self) -> Mapping[str, CommitId]:
        return dict(self.history.refs)

    def files_of(self, commit: CommitId) -> Mapping[str, str]:
        return self.history.commits[commit].files

    def parents_of(self, commit: CommitId) -> tuple[CommitId, ...]:
        return self.history.commits[commit].parents

    def message_of(self, commit: CommitId) -> str:
        return self.history.commits[commit].message

    def write(self, folder: str, files: Mapping[str, str | None]) -> None:
        for name, content in files.items():
            if content is None:
                del self.history.folders[folder][name]
            else:
                self.history.folders[folder][name] = content

    def files_in(self, folder: str) -> Mapping[str, str]:
        return dict(self.history.folders.get(folder, {}))


@pytest.fixture
def world() -> MemoryWorld:
    return MemoryWorld()


class TestMemoryRepository(RepositoryContract):
    pass


class TestMemoryWorkspace(WorkspaceContract):
    pass


class TestMemoryTrees(TreesContract):
    @pytest.fixture
    def trees(self, world: MemoryWorld) -> Trees:
        return MemoryTrees(world.history)


class TestMemoryChecks(ChecksContract):
    @pytest.fixture
    def checkout(self) -> str:
        return "/memory/checkout"

    @pytest.fixture
    def checks(self, checkout: str) -> Checks:
        return MemoryChecks({checkout: {"a": "one\n"}})
