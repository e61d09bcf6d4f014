"""What root does before it gives up being root: sources are put where another user can reach them.

Root's repositories and programs often lie under directories that nobody else may enter. A private mount namespace holds
a bind mount of each source; bubblewrap, run by the other user, takes them from there.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_STAGES = ("/mnt", "/media", "/srv", "/run")
_CLONE_NEWNS = 0x20000
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 1 << 18
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38


def stage(sources: Iterable[str]) -> Mapping[str, str]:
    """In this process's own mount namespace, a reachable place for each source.

    Raises:
        OSError: not allowed here, or a source does not exist.
    """
    _call("unshare", ctypes.c_int(_CLONE_NEWNS))
    _mount(None, "/", None, _MS_REC | _MS_PRIVATE)
    opened = {source: os.open(source, os.O_PATH | os.O_CLOEXEC) for source in dict.fromkeys(sources)}
    folder = next((folder for folder in _STAGES if Path(folder).is_dir()), "/")
    _mount("tmpfs", folder, "tmpfs", 0, "mode=755")
    places = {}
    for number, (source, descriptor) in enumerate(opened.items()):
        place = Path(folder, str(number))
        # The mounts above may hide the source's path; its descriptor still names it.
        path = f"/proc/self/fd/{descriptor}"
        if Path(path).is_dir():
            place.mkdir()
        else:
            place.touch()
        _mount(path, str(place), None, _MS_BIND | _MS_REC)
        os.close(descriptor)
        places[source] = str(place)
    return places


def become(user: tuple[int, int]) -> None:
    """Turn into another user for good."""
    uid, gid = user
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def give_away(folder: str, user: tuple[int, int]) -> None:
    """Make a directory and all that is in it the user's, unless it is already; links are not followed."""
    uid, gid = user
    if Path(folder).stat().st_uid == uid:
        return
    for _path, folders, files, descriptor in os.fwalk(folder):
        for name in (*folders, *files):
            os.chown(name, uid, gid, dir_fd=descriptor, follow_symlinks=False)
    # Last, because it says that the rest is done.
    os.chown(folder, uid, gid)


def end_with_parent(number: int) -> None:
    """Have this process signalled when the one that started it is gone; no more privileges by any program."""
    _call("prctl", ctypes.c_int(_PR_SET_PDEATHSIG), ctypes.c_ulong(number))
    _call("prctl", ctypes.c_int(_PR_SET_NO_NEW_PRIVS), *map(ctypes.c_ulong, (1, 0, 0, 0)))


def adopt_orphans() -> None:
    """Become the parent of whatever below this process loses its own, so that it can be waited for."""
    _call("prctl", ctypes.c_int(_PR_SET_CHILD_SUBREAPER), ctypes.c_ulong(1))


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    _call("mount", *words, ctypes.c_ulong(flags), None if data is None else os.fsencode(data))


def _call(name: str, *arguments: object) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library[name](*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
