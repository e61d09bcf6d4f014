"""Which SQLite the ledger is kept with."""

from __future__ import annotations

import importlib
import sqlite3
import sys
from typing import TYPE_CHECKING

from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from types import ModuleType

SQLITE_NEEDED = (3, 42)
"""Durable execution asks SQLite for `unixepoch('subsec')` on Python 3.12 and later, which 3.42 brought."""

PYTHON_3_12 = 0x030C0000

OWN_SQLITE = sqlite3.sqlite_version_info
"""The version that this Python is built against."""


def sqlite_module(python: int = sys.hexversion, sqlite: tuple[int, ...] = OWN_SQLITE) -> ModuleType:
    """The SQLite binding to use: Python's own, or `pysqlite3` where that one is too old.

    Args:
        python: the version of Python, as in `sys.hexversion`.
        sqlite: the version of the SQLite that it is built against.

    Raises:
        ConfigError: neither will do.
    """
    if python < PYTHON_3_12 or sqlite >= SQLITE_NEEDED:
        return sqlite3
    try:
        return importlib.import_module("pysqlite3")
    except ImportError:
        shown = ".".join(map(str, sqlite))
        message = f"Python {python >> 24}.{python >> 16 & 0xFF} is built against SQLite {shown}; 3.42 is needed"
        raise ConfigError(message, remedy="pip install pysqlite3-binary, or use Python 3.11") from None
