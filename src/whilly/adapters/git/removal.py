"""Directories removed whatever the modes of what is in them; what the system keeps is an error with its path."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from whilly.domain.errors import PortError

if TYPE_CHECKING:
    from pathlib import Path

_TRIES = 3
_COUNT = "~"
_FORBIDDEN = (errno.EACCES, errno.EPERM)


class _Stuck(Exception):
    def __init__(self, path: str, reason: OSError) -> None:
        super().__init__(path)
        self.path = path
        self.reason = reason


def remove_tree(path: Path) -> None:
    """Remove a directory whatever the modes of what is in it; absent is not an error.

    Raises:
        PortError: something in it is another user's, protected, or in use; as much as possible is gone.
    """
    stuck: _Stuck | None = None
    for _ in range(_TRIES):
        try:
            _remove(path)
        except _Stuck as error:
            # Tools leave read-only directories behind (Go's module cache), agents worse, and a process that is being
            # ended may add a file meanwhile: once more, with all rights.
            stuck = error
            open_up(path)
        else:
            return
    if stuck is not None:
        raise _explain(path, stuck)


def move_away(path: Path, gone: Path) -> Path | None:
    """Move something into the directory `gone`, or remove it; where it is now, None when nothing is left of it.

    Raises:
        PortError: neither can be done.
    """
    gone.mkdir(parents=True, exist_ok=True)
    number = 0
    while os.path.lexists(aside := gone / f"{path.name}{_COUNT}{number}"):
        number += 1
    try:
        path.rename(aside)
    except FileNotFoundError:
        return None
    except OSError:
        # In use, or on another file system: it has to go where it is.
        remove_tree(path)
        return None
    return aside


def discard(path: Path, gone: Path) -> None:
    """Take something out of its place and remove it; what cannot be removed is left in `gone`.

    Raises:
        PortError: not even out of its place.
    """
    aside = move_away(path, gone)
    if aside is not None:
        with suppress(PortError):
            remove_tree(aside)


def list_gone(gone: Path, name: str = "") -> list[Path]:
    """What is in the directory `gone`; of that, what had this name."""
    if not gone.is_dir():
        return []
    return sorted(each for each in gone.iterdir() if not name or each.name.rpartition(_COUNT)[0] == name)


def open_up(folder: Path) -> None:
    """Give their owner all rights to a directory and to those below it, as far as the system lets us."""
    waiting = [str(folder)]
    while waiting:
        place = waiting.pop()
        with suppress(OSError):
            make_enterable(place)
            with os.scandir(place) as entries:
                waiting += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]


def make_enterable(folder: str | Path) -> None:
    """Give its owner all rights to a directory, if that is us; absent is not an error."""
    with suppress(OSError):
        mode = os.lstat(folder).st_mode
        if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
            os.chmod(folder, stat.S_IMODE(mode) | stat.S_IRWXU)  # noqa: PTH101  (a million directories, as strings)


def _remove(path: Path) -> None:
    try:
        if path.is_symlink() or not path.is_dir():
            path.unlink(missing_ok=True)
            return
    except OSError as error:
        raise _Stuck(str(path), error) from error
    if sys.version_info >= (3, 12):
        shutil.rmtree(path, onexc=_stop)
    else:
        shutil.rmtree(path, onerror=_stop)


def _stop(_function: object, path: str, what: object) -> None:
    # What Python 3.12 gives is the error itself, before that it is what `sys.exc_info` gives.
    error = what[1] if isinstance(what, tuple) else what
    if isinstance(error, FileNotFoundError):
        return
    if isinstance(error, OSError):
        raise _Stuck(path, error) from error


def _explain(path: Path, stuck: _Stuck) -> PortError:
    message = f"{path} cannot be removed: {stuck.path}: {stuck.reason.strerror or stuck.reason}"
    by_hand = f"sudo rm -rf {shlex.quote(str(path))}"
    if stuck.reason.errno in _FORBIDDEN:
        remedy = f"{by_hand} (if even that is refused: sudo chattr -R -i {shlex.quote(str(path))} first)"
    else:
        remedy = f"end what uses it, then {by_hand}"
    return PortError(message, remedy=remedy)
