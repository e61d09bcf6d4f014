"""Versions of Python, SQLite and git, and room for temporary files."""

from __future__ import annotations

import platform
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.cli.doctor.catalogue import found
from whilly.cli.doctor.checks.storage import judge_room
from whilly.cli.doctor.finding import Fact, Said
from whilly.domain.errors import ConfigError, WhillyError
from whilly.engine.sqlite.binding import OWN_SQLITE, sqlite_module

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from whilly.cli.doctor.site import Site

OLDEST_PYTHON = (3, 11)
NEWEST_PYTHON = (3, 14)
TEMPORARY_ROOM = 256 * 1024 * 1024
"""Bytes: what the tests of an ordinary project write at most."""


def look_at_versions(_site: Site) -> Iterator[Said]:
    """Python and its SQLite."""
    yield Fact("whilly", version("whilly"))
    yield Fact("python", platform.python_version())
    yield from judge_python(sys.version_info[:2])
    yield from judge_sqlite(sys.hexversion, OWN_SQLITE)


def judge_python(running: tuple[int, int]) -> Iterator[Said]:
    """What is to be said about this version."""
    shown = ".".join(map(str, running))
    span = f"{OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]} to {NEWEST_PYTHON[0]}.{NEWEST_PYTHON[1]}"
    remedy = f"use Python {span}"
    if running < OLDEST_PYTHON:
        yield found("python_unsupported", f"this is Python {shown}; Whilly needs {span}", remedy=remedy)
    elif running > NEWEST_PYTHON:
        yield found("python_untried", f"this is Python {shown}; Whilly is tested with {span}", remedy=remedy)


def judge_sqlite(python: int, sqlite: tuple[int, ...]) -> Iterator[Said]:
    """What is to be said about the SQLite that is used.

    Args:
        python: its version, as in `sys.hexversion`.
        sqlite: the version that Python is built against.
    """
    try:
        yield Fact("sqlite", sqlite_module(python, sqlite).sqlite_version)
    except ConfigError as error:
        yield found("sqlite_unusable", error.message, remedy=error.remedy)


async def look_at_git(site: Site) -> Iterable[Said]:
    """Its version."""
    from whilly.adapters.git.inspection import require_git  # noqa: PLC0415  (asyncio costs time)

    try:
        numbers = await require_git(site.project.git, Path(site.project.root.anchor))
    except WhillyError as error:
        return [found("git_unusable", error.message, remedy=error.remedy or "install git 2.38 or later")]
    return [Fact("git", ".".join(map(str, numbers)))]


def look_at_temporary_files(site: Site) -> Iterator[Said]:
    """Whether there is room for them, where the environment says they belong."""
    place = site.project.loaded.environment.get("TMPDIR", "")
    folder = Path(place or tempfile.gettempdir())
    remedy = "make it, or set TMPDIR to a directory that you may write"
    try:
        with tempfile.NamedTemporaryFile(prefix="whilly-doctor-", dir=folder):
            pass
    except OSError as error:
        what = f"{folder} cannot be written: {error.strerror}"
        yield found("temporary_unusable", what, subject=str(folder), remedy=remedy)
        return
    yield from judge_room(folder, TEMPORARY_ROOM)
