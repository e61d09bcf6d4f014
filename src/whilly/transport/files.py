"""Reading files that somebody else may have put there, and writing files whole."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 1 << 20
_NO_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class Unreadable(Exception):
    """What is there is no file that can be read; the text says what it is."""


def read_file(path: Path, limit: int = MAX_BYTES) -> bytes | None:
    """The content of an ordinary file of at most `limit` bytes; None when there is nothing of that name.

    A link is not followed and a FIFO not waited for.

    Raises:
        Unreadable: it is something else, or larger.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | _NO_WAITING)
    except FileNotFoundError:
        return None
    except OSError as error:
        is_link = error.errno == errno.ELOOP
        raise Unreadable("it is a symbolic link" if is_link else str(error.strerror)) from error
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise Unreadable("it is a directory" if stat.S_ISDIR(about.st_mode) else "it is not an ordinary file")
        if about.st_size > limit:
            what = f"it is larger than {limit} bytes"
            raise Unreadable(what)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(limit)
    finally:
        os.close(descriptor)


def write_file(path: Path, data: bytes, *, is_first: bool = False, mode: int = 0o600) -> None:
    """Put a file in place, whole or not at all, also over a power failure.

    Args:
        path: where.
        data: all of it.
        is_first: never replace what is there.
        mode: of the file, less what the process withholds.

    Raises:
        FileExistsError: `is_first`, and there is something.
        OSError: it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        if is_first:
            os.link(temporary, path)
        else:
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
