"""Lines of a file that somebody else is still writing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import BinaryIO

CHUNK_BYTES = 1 << 20
LINE_BYTES = 64 << 20
"""A longer line is handed on in pieces of this size: it can only be garbage, and must not fill the memory."""


def read_lines(path: Path, offset: int, is_ended: Callable[[], bool]) -> tuple[list[bytes], int]:
    r"""Complete lines from byte `offset` on, without their ends (`\n` or `\r\n`), and the offset after them.

    About a mebibyte at a time, or one line if that is longer. When `is_ended`, the unfinished last line counts too.
    A file that was cut is read on from its new end.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return [], 0
    with file:
        size = os.fstat(file.fileno()).st_size
        if size < offset:
            return [], size
        file.seek(offset)
        data = _read_block(file, is_ended)
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix(b"\r") for line in lines], offset + len(data)


def _read_block(file: BinaryIO, is_ended: Callable[[], bool]) -> bytes:
    """Bytes that end with a line's end, at the end of the ended file, or at the longest that a line may be."""
    data = bytearray()
    has_ended = False
    while len(data) < LINE_BYTES:
        more = file.read(min(CHUNK_BYTES, LINE_BYTES - len(data)))
        data += more
        end = data.rfind(b"\n", len(data) - len(more))
        if end >= 0:
            return bytes(data[: end + 1])
        if not more:
            if has_ended:
                break
            # Only what is read after the end is known to be all.
            has_ended = bool(data) and is_ended()
            if not has_ended:
                return b""
    return bytes(data)
