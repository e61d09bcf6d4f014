from __future__ import annotations

from whilly.testing.contracts import RepositoryContract, WorkspaceContract


class TestGitRepository(RepositoryContract):
    pass


class TestGitWorkspace(WorkspaceContract):
    pass
