"""Paths of files as URLs of databases, and back."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

import sqlalchemy as sa

_ODD = re.compile("[?%#\ud800-\udfff]")
"""What means something else in a URL, or cannot be in one."""

_URI = "file:"
"""SQLite's own way to say any path (https://www.sqlite.org/uri.html)."""


def sqlite_url(path: Path) -> str:
    """The URL of the SQLite database in this file, whatever characters its path has."""
    if _ODD.search(str(path)) is None:
        return f"sqlite:///{path}"
    url = sa.URL.create("sqlite", database=_URI + quote(os.fsencode(path)), query={"uri": "true"})
    return url.render_as_string(hide_password=False)


def find_file(url: sa.URL) -> Path | None:
    """The file of a database; None when it has none: it is in memory, or not SQLite's."""
    name = url.database or ""
    if url.get_backend_name() != "sqlite" or name in {"", ":memory:"}:
        return None
    if url.query.get("uri") == "true" and name.startswith(_URI):
        return Path(os.fsdecode(unquote_to_bytes(name.removeprefix(_URI))))
    return Path(name)
