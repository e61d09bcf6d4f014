"""Policy: what may be taken over of a change whose maker is not trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from whilly.domain.ids import CommitId
    from whilly.domain.trust.policy import Objection


class Policy(Protocol):
    """Looks at changes before anybody runs or takes them over."""

    async def objections(self, base: CommitId, commit: CommitId) -> tuple[Objection, ...]:
        """Everything that is to be said against the change `base..commit`; asking again gives the same.

        Raises:
            NotFound: one of the commits does not exist.
        """
        ...
