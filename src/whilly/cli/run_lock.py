"""One `whilly run` at a time in a repository."""

from __future__ import annotations

import json
import os
import platform
import sys
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

if sys.platform != "win32":
    import fcntl

LOCK_FILE = "run.lock"
OWNER_FILE = "run.json"
LOOK_SECONDS = 0.2
"""Those who only look hold the lock for a moment; who wants to work waits this long for them."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The `whilly run` that is alive in a repository."""

    pid: int
    host: str
    started_at: str
    plans: tuple[str, ...]


def find_owner(state: Path) -> Owner | None:
    """Who is working here; None when nobody is. The lock decides: what a killed process left behind is not believed."""
    return _read(state) if _is_held(state / LOCK_FILE) else None


def _is_held(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            if sys.platform == "win32":
                return _is_held_by_others(path)
            # Shared, so that two who look at the same time do not see each other.
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        # No such file, or no such directory: nobody can be holding it.
        return False
    return False


def _is_held_by_others(path: Path) -> bool:
    from filelock import FileLock, Timeout  # noqa: PLC0415  (costs time that looking on need not take elsewhere)

    try:
        FileLock(path).acquire(timeout=0).lock.release()
    except Timeout:
        return True
    return False


@contextmanager
def hold_lock(state: Path, plans: tuple[str, ...], now: datetime) -> Iterator[None]:
    """Be the only `whilly run` of this repository.

    Raises:
        ConfigError: another one is alive; the message names it.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415  (as above)

    lock = FileLock(state / LOCK_FILE)
    try:
        lock.acquire(timeout=LOOK_SECONDS, poll_interval=0.02)
    except Timeout:
        owner = _read(state)
        message = f"whilly is at work in this repository: process {owner.pid} on {owner.host}, since {owner.started_at}"
        message += f", on {', '.join(owner.plans)}" if owner.plans else ""
        remedy = "whilly run --watch to look on, whilly status, or end it first with Ctrl-C where it runs"
        raise ConfigError(message, remedy=remedy) from None
    try:
        owner = Owner(os.getpid(), platform.node(), now.isoformat(timespec="seconds"), plans)
        (state / OWNER_FILE).write_text(json.dumps(asdict(owner)), encoding="utf-8")
        yield
        (state / OWNER_FILE).unlink(missing_ok=True)
    finally:
        lock.release()


def _read(state: Path) -> Owner:
    try:
        known = json.loads((state / OWNER_FILE).read_text(encoding="utf-8"))
        return Owner(int(known["pid"]), str(known["host"]), str(known["started_at"]), tuple(known["plans"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Owner(0, "unknown host", "unknown", ())
