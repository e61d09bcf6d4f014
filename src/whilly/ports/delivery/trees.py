"""Trees: what commits hold, measured against each other and put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection

    from whilly.domain.change import Extent
    from whilly.domain.ids import CommitId


class Trees(Protocol):
    """Reads and makes objects of the user's repository. No ref moves, and nothing is checked out."""

    async def measure(self, old: CommitId, new: CommitId) -> tuple[Extent, ...]:
        """How much differs between two commits, by path, sorted; a rename counts as both paths.

        Raises:
            NotFound: one of the commits does not exist.
        """
        ...

    async def overlay(self, commit: CommitId, source: CommitId, paths: Collection[str]) -> CommitId:
        """A commit with the tree of `commit`, but for these paths, which are as `source` has them, or absent.

        Its parent is `commit`. A path that neither of them has is left out.

        Raises:
            NotFound: one of the commits does not exist.
        """
        ...
