"""Making something exactly once, with servers whose answers get lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from whilly.transport.http.refusal import Unanswered

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from whilly.transport.http.client import HttpClient

Made = TypeVar("Made")
_TRIES = 4
_PAUSE_S = 2.0


async def make_once(
    http: HttpClient, find: Callable[[], Awaitable[Made | None]], make: Callable[[], Awaitable[Made | None]]
) -> Made:
    """What `find` finds, or else what `make` makes; when an answer was lost, it is looked for before it is made again.

    Args:
        http: the line over which both ask.
        find: None says that it is not there.
        make: None says that it is there already, made by somebody else in the meantime.

    Raises:
        Unanswered: several answers were lost, and it is not there.
    """
    lost: Unanswered | None = None
    for attempt in range(_TRIES):
        if attempt:
            # What was being done when its answer got lost needs a moment until it can be seen.
            await http.pause(_PAUSE_S * attempt)
        if (found := await find()) is not None:
            return found
        try:
            if (made := await make()) is not None:
                return made
        except Unanswered as error:
            lost = error
    if (found := await find()) is not None:
        return found
    raise lost or Unanswered("it is said to be there already, and cannot be found")
