"""Artefacts: what the stages of a run leave for each other and for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.ids import RunId


class Artefacts(Protocol):
    """JSON documents of runs, by name. They are out of the reach of agents."""

    async def save(self, run: RunId, name: str, document: Mapping[str, object]) -> str:
        """Put the document in place, whole or not at all; the same name again replaces it.

        Args:
            run: whose it is.
            name: lower-case letters, digits and `_`.
            document: what JSON can hold.

        Returns:
            Where people find it.

        Raises:
            Unavailable: it cannot be written for a reason that may pass.
        """
        ...

    async def load(self, run: RunId, name: str) -> Mapping[str, object] | None:
        """The document as it was saved last; None when there is none that can be read."""
        ...
