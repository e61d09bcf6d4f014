from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.adapters.git.command import Git
from whilly.adapters.git.layout import Layout
from whilly.adapters.git.repository import GitRepository
from whilly.adapters.git.workspace import GitWorkspace
from whilly.adapters.memory.clock import ManualClock
from whilly.testing.contracts import RepositoryContract, WorkspaceContract
from whilly.testing.scratch import ScratchRepository

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from whilly.domain.ids import CommitId
    from whilly.testing.contracts import RepositoryWorld


class GitWorld:
    def __init__(self, folder: Path) -> None:
        self.scratch = ScratchRepository.make(folder)
        self.git = Git(env=self.scratch.env)
        root = self.scratch.root
        self.layout = Layout(root, root / ".whilly")
        clock = ManualClock()
        self.repository = GitRepository(self.git, self.layout, clock)
        self.workspace = GitWorkspace(self.git, self.layout, clock)
        self.refs = self.scratch.refs
        self.files_of = self.scratch.files_of
        self.parents_of = self.scratch.parents_of
        self.message_of = self.scratch.message_of
        self.files_in = self.scratch.files_in
        self.is_held = self.scratch.is_held
        self.set_ref = self.scratch.set_ref

    def make_commit(self, files: Mapping[str, str | None], *parents: CommitId) -> CommitId:
        return self.scratch.make_commit(files, *parents)

    def write(self, folder: str, files: Mapping[str, str | None]) -> None:
        self.scratch.write(folder, files)


@pytest.fixture
def world(tmp_path: Path) -> RepositoryWorld:
    return GitWorld(tmp_path)


class TestGitRepository(RepositoryContract):
    pass


class TestGitWorkspace(WorkspaceContract):
    pass
