"""One comment per key, for every place that keeps comments as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from whilly.domain.errors import Unavailable
from whilly.domain.forge.marker import sign
from whilly.transport.http.once import make_once

if TYPE_CHECKING:
    from whilly.domain.forge.issue import Comment
    from whilly.transport.http.client import HttpClient


_LAG_S = (1.0, 2.0, 4.0, 8.0, 15.0)
"""How long a list may lag behind what was written."""


class Thread(Protocol):
    """Where the comments are."""

    async def list_own(self) -> list[Comment]:
        """Those of Whilly's own account, the oldest first; their keys are read from their marks."""
        ...

    async def write(self, text: str) -> object:
        """Add one."""
        ...

    async def rewrite(self, comment: Comment, text: str) -> object:
        """Replace the text of one."""
        ...

    async def remove(self, comment: Comment) -> object:
        """Take one away; one that is gone is not an error."""
        ...


async def comment_once(http: HttpClient, thread: Thread, key: str, text: str) -> Comment:
    """The one comment under this key, with this text."""

    async def find() -> Comment | None:
        own = [comment for comment in await thread.list_own() if comment.key == key]
        for double in own[1:]:
            # A request that arrived twice, or two processes at the same moment.
            await thread.remove(double)
        return own[0] if own else None

    async def make() -> Comment | None:
        await thread.write(sign(text, key))
        for seconds in _LAG_S:
            # It is there: a list that does not show it yet is no reason to write it again.
            if (made := await find()) is not None:
                return made
            await http.pause(seconds)
        message = "a comment was written, and is not to be seen yet"
        raise Unavailable(message)

    found = await make_once(http, find, make)
    if found.text.strip() == text.strip():
        return found
    await thread.rewrite(found, sign(text, key))
    return await find() or found
