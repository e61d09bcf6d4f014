"""Whether SQLite can work in a directory as the ledger needs it."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.engine.sqlite.binding import sqlite_module

if TYPE_CHECKING:
    from types import ModuleType

_WAL = "PRAGMA journal_mode=WAL"


def find_journal_fault(folder: Path, *, vfs: str = "") -> str:
    """Why the write-ahead log does not work on the file system of `folder`; empty when it does.

    It needs memory that processes share through a file, which network file systems lack
    (https://sqlite.org/wal.html). A scratch database is made in `folder` and removed again.

    Args:
        folder: an existing directory.
        vfs: the name of SQLite's layer to the system; empty is its default.

    Raises:
        OSError: nothing can be written there.
        ConfigError: there is no SQLite to work with.
    """
    sqlite = sqlite_module()
    with tempfile.TemporaryDirectory(prefix="doctor-", dir=folder) as scratch:
        place = (Path(scratch) / "probe.db").absolute().as_uri() + (f"?vfs={vfs}" if vfs else "")
        try:
            return _try_log(sqlite, place)
        except sqlite.Error as error:
            return str(error)


def _try_log(sqlite: ModuleType, place: str) -> str:
    with closing(sqlite.connect(place, uri=True)) as one, closing(sqlite.connect(place, uri=True)) as other:
        mode = one.execute(_WAL).fetchone()[0]
        if mode != "wal":
            return f"SQLite answers journal_mode={mode}"
        one.execute("CREATE TABLE probe (value)")
        one.execute("INSERT INTO probe VALUES (1)")
        one.commit()
        seen = other.execute("SELECT count(*) FROM probe").fetchone()[0]
    return "" if seen == 1 else "what one connection has written, another does not see"
