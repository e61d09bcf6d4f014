"""Where the ledger and the workspaces are to be: room, permission, a file system that fits."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from whilly.cli.doctor.catalogue import found
from whilly.cli.run_lock import LOCK_FILE, OWNER_FILE
from whilly.domain.errors import ConfigError
from whilly.engine.sqlite.journal import find_journal_fault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from whilly.cli.doctor.finding import Said
    from whilly.cli.doctor.site import Site

STATE_ROOM = 1024 * 1024 * 1024
"""Bytes: a work tree and a checkout with what is built in it, for three agents of an ordinary project."""
FEWEST_INODES = 10_000
"""About as many files as such work trees hold."""

_FILES = (LOCK_FILE, OWNER_FILE, ".gitignore", "whilly.db", "whilly.db-wal", "whilly.db-shm")


def look_at_disk(site: Site) -> Iterator[Said]:
    """Whether there is room for workspaces."""
    state = site.project.state
    yield from judge_room(state if state.is_dir() else site.project.root, STATE_ROOM)


def judge_room(folder: Path, needed: int) -> Iterator[Said]:
    """What is to be said about the disk that holds `folder`, if `needed` bytes are to be free."""
    free = shutil.disk_usage(folder).free
    lacking = ""
    if free < needed:
        lacking = f"{_as_size(free)} are free, {_as_size(needed)} should be"
    elif hasattr(os, "statvfs"):
        state = os.statvfs(folder)
        # File systems that make inodes when they need them say that there are none at all.
        if state.f_files and state.f_favail < FEWEST_INODES:
            lacking = f"{state.f_favail} more files can be made, {FEWEST_INODES} should be possible"
    if lacking:
        yield found("disk_low", f"on the disk of {folder} {lacking}", subject=str(folder), remedy="free some space")


def look_at_state_directory(site: Site) -> Iterator[Said]:
    """Whether Whilly's directory can be written, and a database there can have a write-ahead log."""
    place = _probe_place(site)
    if place is None:
        return
    try:
        fault = find_journal_fault(place)
    except ConfigError:
        # There is no SQLite to try it with, which another check says.
        return
    except OSError as error:
        what = f"{place} cannot be written: {error.strerror}"
        yield found("state_unwritable", what, subject=str(place), remedy="check its owner, its mode and its disk")
        return
    yield from _list_foreign(site.project.state)
    if not site.project.settings.storage.database_url:
        yield from judge_journal(fault, place)


def _list_foreign(state: Path) -> Iterator[Said]:
    for path in (state / name for name in _FILES):
        if path.exists() and not (path.is_file() and os.access(path, os.R_OK | os.W_OK)):
            what = f"{path} is no file that you may read and write"
            remedy = f'sudo chown -R "$(id -u)" {state}'
            yield found("state_unwritable", what, subject=str(path), remedy=remedy)


def judge_journal(fault: str, place: Path) -> Iterator[Said]:
    """What is to be said about this fault of the write-ahead log; an empty one is none."""
    if fault:
        remedy = "move the repository to a local disk, or set storage.database_url"
        yield found("journal_unusable", f"on the file system of {place}: {fault}", subject=str(place), remedy=remedy)


def _probe_place(site: Site) -> Path | None:
    """Where to try: Whilly's directory, before the first run git's own if it is on the same file system."""
    state, root = site.project.state, site.project.root
    if state.exists() or state.is_symlink():
        return state
    git_dir = site.project.layout.shared_dir
    is_near = git_dir.is_dir() and git_dir.stat().st_dev == root.stat().st_dev
    return git_dir if is_near else None


def _as_size(count: int) -> str:
    unit = "MiB" if count < STATE_ROOM else "GiB"
    return f"{count / (1024**2 if unit == 'MiB' else 1024**3):.1f} {unit}"
