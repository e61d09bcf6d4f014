"""Errors that nobody raised on purpose, where it is the environment that gave way."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from whilly.domain.errors import Unavailable
from whilly.engine.fault import explain_fault

if TYPE_CHECKING:
    from whilly.domain.errors import WhillyError

_OWN = "see to it that it belongs to you and can be read and written, then run the same command again"
_ENVIRONMENT = {
    errno.ENOSPC: "free some disk space, then run the same command again: nothing is lost",
    errno.EDQUOT: "free some disk space, then run the same command again: nothing is lost",
    errno.EROFS: "mount it so that it can be written",
    errno.EACCES: _OWN,
    errno.EPERM: _OWN,
    errno.EMFILE: "raise the limit on open files (ulimit -n)",
    errno.EIO: "mend the disk, then run the same command again",
}
"""What the system says when it is not Whilly's fault → what helps."""


def explain_failure(error: BaseException) -> WhillyError | None:
    """What an error means that nobody raised on purpose, if the environment gave way; None when it is Whilly's."""
    fault = explain_fault(error)
    if fault is None and isinstance(error, OSError) and error.errno in _ENVIRONMENT:
        place = f"{error.filename}: " if error.filename else ""
        return Unavailable(f"{place}{error.strerror}", remedy=_ENVIRONMENT[error.errno])
    return fault
