"""What the suites of Repository, Workspace and Checks need to see and to do besides the ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.ids import CommitId
    from whilly.ports.repository import Repository
    from whilly.ports.workspace import Workspace


class RepositoryWorld(Protocol):
    """A repository with a branch `main` that is checked out in somebody's work tree, seen from outside."""

    @property
    def repository(self) -> Repository:
        """The adapter under test."""
        ...

    @property
    def workspace(self) -> Workspace:
        """The adapter under test."""
        ...

    def make_commit(self, files: Mapping[str, str | None], *parents: CommitId) -> CommitId:
        """A commit that changes these files of its first parent (None deletes); no branch moves."""
        ...

    def set_ref(self, ref: str, commit: CommitId) -> None:
        """Move or create `refs/…`, as a user would."""
        ...

    def refs(self) -> Mapping[str, CommitId]:
        """All refs by their full names."""
        ...

    def files_of(self, commit: CommitId) -> Mapping[str, str]:
        """A commit's files."""
        ...

    def parents_of(self, commit: CommitId) -> tuple[CommitId, ...]:
        """A commit's parents."""
        ...

    def message_of(self, commit: CommitId) -> str:
        """A commit's message, without the line end at its end."""
        ...

    def write(self, folder: str, files: Mapping[str, str | None]) -> None:
        """Change files in a workspace, as an agent does; None deletes."""
        ...

    def files_in(self, folder: str) -> Mapping[str, str]:
        """The files in a workspace or checkout."""
        ...

    def is_held(self, commit: CommitId) -> bool:
        """Whether some ref reaches the commit."""
        ...
