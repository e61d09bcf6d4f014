"""What an agent finds when it starts: files of its own, links to a login, a temporary folder that goes with it."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.session import Launch

TMP_VARIABLES = ("TMPDIR", "TEMP", "TMP")


def furnish(launch: Launch) -> None:
    """Write the launch's files and links; doing it again is harmless.

    Raises:
        OSError: no room, no permission.
    """
    for name, text in launch.files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
    for name, target in launch.links.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if Path(target).exists() and not path.is_symlink():
            path.symlink_to(target)


def find_tmp(home: str) -> Path:
    """The temporary folder of the session with this home: short, since sockets may be in it, and not in the home."""
    digest = hashlib.sha256(os.fsencode(os.path.realpath(home))).hexdigest()[:16]
    return Path(tempfile.gettempdir(), f"whilly-{digest}")


def make_tmp(home: str) -> Mapping[str, str]:
    """Make the session's temporary folder, empty; the variables that lead there.

    Raises:
        OSError: it cannot be made, or is somebody else's.
    """
    folder = find_tmp(home)
    remove_tmp(home)
    folder.mkdir(mode=0o700)
    return dict.fromkeys(TMP_VARIABLES, str(folder))


def remove_tmp(home: str) -> None:
    """Remove the session's temporary folder with all that was left in it, if there is one."""
    folder = find_tmp(home)
    if not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)
