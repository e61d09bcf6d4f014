"""Patience with the ledger: what cannot be read or written now is tried again for a while."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from sqlalchemy.exc import SQLAlchemyError

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")

PAUSES = (0.2, 1.0, 5.0)
"""Seconds between tries: for a lock, a full disk, a server that starts anew."""


async def patiently(ask: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `ask`, a call to the ledger, gives; it is made in a thread, and made again when the ledger fails.

    Only for calls that mean the same when they are made twice: the first may have been committed before it failed.
    """
    for pause in PAUSES:
        try:
            return await asyncio.to_thread(ask, *args, **kwargs)
        except (SQLAlchemyError, OSError):
            await asyncio.sleep(pause)
    return await asyncio.to_thread(ask, *args, **kwargs)
