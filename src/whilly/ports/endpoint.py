"""Endpoint: a place, as far as it can be asked about itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from whilly.domain.forge.issue import Standing


class Endpoint(Protocol):
    """The line to one tracker or forge."""

    async def probe(self) -> Standing:
        """Ask whether it is there, and whose token it is; changes nothing.

        Raises:
            Unavailable: it does not answer.
            NotAuthorized: it refuses the token.
            BadResponse: something answers that is not what it should be.
        """
        ...

    def calls(self) -> int:
        """How many requests were sent over it so far, repeated ones included."""
        ...
