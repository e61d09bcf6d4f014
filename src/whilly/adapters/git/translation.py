"""What the system says about files, in the words of the ports."""

from __future__ import annotations

import errno
import functools
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from whilly.domain.errors import PortError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

P = ParamSpec("P")
T = TypeVar("T")

_PASSING = {
    errno.ENOSPC: "free some disk space, then run again",
    errno.EDQUOT: "free some disk space, then run again",
    errno.EMFILE: "raise the limit on open files (ulimit -n)",
    errno.ENFILE: "close some programs: no more files can be opened",
    errno.ENOMEM: "free some memory",
    errno.EAGAIN: "end some processes or raise the limit on processes (ulimit -u)",
}
"""Reasons that may be gone the next time → what helps."""


def translated(method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """The method, of which no `OSError` leaves: it becomes `Unavailable` where that may pass, `PortError` otherwise."""

    @functools.wraps(method)
    async def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await method(*args, **kwargs)
        except OSError as error:
            raise translate(error) from error

    return call


def translate(error: OSError) -> PortError:
    """The error of a port that this means."""
    place = f"{error.filename}: " if error.filename else ""
    message = f"{place}{error.strerror or error}"
    if error.errno in _PASSING:
        return Unavailable(message, remedy=_PASSING[error.errno])
    return PortError(message, remedy="see to it that it belongs to you and can be read, written and entered")
