"""Documents: texts that are read from commits and put into the user's work tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from whilly.domain.ids import CommitId


class Documents(Protocol):
    """Text files of a repository, by their path in it. Index, branches and all other files stay as they are."""

    async def read(self, commit: CommitId, path: str) -> str | None:
        """The file as the commit has it, what is not UTF-8 as U+FFFD; None when it has no ordinary file there.

        Raises:
            PortError: git cannot say.
        """
        ...

    async def put(self, path: str, text: str, *, replaces: bool) -> None:
        """Put the file into the work tree, whole or not at all; with the same text it may be asked for twice.

        Args:
            path: relative to the work tree.
            text: all of it.
            replaces: it may take the place of a file with another text.

        Raises:
            RuleViolation: something else is there, or the path leads out of the work tree.
            Unavailable: it cannot be written for a reason that may pass.
            PortError: it cannot be written.
        """
        ...
