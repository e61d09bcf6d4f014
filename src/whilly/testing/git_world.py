"""The git adapters on a real repository, as the contract suites want to see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.adapters.git.command import Git
from whilly.adapters.git.layout import Layout
from whilly.adapters.git.repository import GitRepository
from whilly.adapters.git.workspace import GitWorkspace
from whilly.testing.scratch import ScratchRepository

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from whilly.domain.ids import CommitId
    from whilly.ports.clock import Clock


@final
class GitWorld:
    """A `RepositoryWorld` in a temporary directory."""

    def __init__(self, folder: Path, clock: Clock, env: Mapping[str, str] | None = None) -> None:
        self.scratch = ScratchRepository.make(folder)
        self.git = Git(env={**self.scratch.env, **(env or {})})
        self.layout = Layout(self.scratch.root, self.scratch.root / ".whilly")
        self.repository = GitRepository(self.git, self.layout, clock)
        self.workspace = GitWorkspace(self.git, self.layout, clock)
        self.refs = self.scratch.refs
        self.files_of = self.scratch.files_of
        self.parents_of = self.scratch.parents_of
        self.message_of = self.scratch.message_of
        self.files_in = self.scratch.files_in
        self.is_held = self.scratch.is_held
        self.set_ref = self.scratch.set_ref

    def make_commit(self, files: Mapping[str, str | bytes | None], *parents: CommitId) -> CommitId:
        """See `RepositoryWorld.make_commit`."""
        return self.scratch.make_commit(files, *parents)

    def write(self, folder: str, files: Mapping[str, str | bytes | None]) -> None:
        """See `RepositoryWorld.write`."""
        self.scratch.write(folder, files)
