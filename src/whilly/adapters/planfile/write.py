"""Replaces a file as a whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from whilly.domain.errors import PortError, Unavailable

if TYPE_CHECKING:
    from pathlib import Path

_FULL: Final = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file is larger than is allowed",
}
_FORBIDDEN: Final = {
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission is missing for its folder",
    errno.EPERM: "permission is missing for its folder",
}


def write_atomically(path: Path, data: bytes) -> None:
    """Put `data` in place of the file's content, through a temporary file beside it.

    A reader sees the old content or the new, also after a power failure. The file keeps its mode. When `path` is a
    symbolic link, the link stays and the file that it leads to is replaced.

    Raises:
        Unavailable: there is no room for it; the old content is as it was.
        PortError: it may not or cannot be written; the old content is as it was.
    """
    try:
        target = path.resolve()
        if target.is_symlink() or (target.exists() and not target.is_file()):
            message = f"{path} cannot be written: it is not a regular file"
            raise PortError(message, remedy="name a file")
        _replace(target, data)
    except (OSError, RuntimeError) as error:
        raise _translated(path, error) from error


def _replace(target: Path, data: bytes) -> None:
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            _take_over(temporary, target.stat())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _take_over(temporary: Path, old: os.stat_result) -> None:
    """Give the new file the mode of the old one, and its owner where that is allowed."""
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(temporary, old.st_uid, old.st_gid)
    temporary.chmod(old.st_mode & 0o7777)


def _sync_folder(folder: Path) -> None:
    """Make the new name durable, where folders can be synced."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _translated(path: Path, error: OSError | RuntimeError) -> PortError:
    number = error.errno if isinstance(error, OSError) else None
    if number in _FULL:
        return Unavailable(f"{path} cannot be written: {_FULL[number]}", remedy="make room and try again")
    if number in _FORBIDDEN:
        return PortError(f"{path} cannot be written: {_FORBIDDEN[number]}", remedy="make its folder writable")
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return PortError(f"{path} cannot be written: {why}", remedy="check that its folder exists")
