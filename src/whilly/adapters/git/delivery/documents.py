"""GitDocuments: texts from git's objects, never from an agent's files, and into the user's work tree."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from typing_extensions import override

from whilly.adapters.git.translation import translated
from whilly.domain.errors import RuleViolation
from whilly.domain.text.clean import decode
from whilly.ports.delivery.documents import Documents
from whilly.transport.files import Unreadable, read_file, write_file

if TYPE_CHECKING:
    from whilly.adapters.git.command import Git
    from whilly.domain.ids import CommitId

MAX_BYTES: Final = 4 << 20
_FILES: Final = ("100644", "100755")


@final
class GitDocuments(Documents):
    """A repository on this machine.

    Args:
        git: runs git.
        root: the user's work tree.
    """

    def __init__(self, git: Git, root: Path) -> None:
        self._git = git
        self._root = root

    @override
    async def read(self, commit: CommitId, path: str) -> str | None:
        words = ("--literal-pathspecs", "ls-tree", "-l", "-z", "--full-tree", commit, "--", path)
        listed = await self._git.run(self._root, *words)
        about, _, name = (listed.fields or ("",))[0].partition("\t")
        mode, _, rest = about.partition(" ")
        if mode not in _FILES or name != path or int(rest.split()[-1]) > MAX_BYTES:
            return None
        return decode((await self._git.run(self._root, "cat-file", "blob", rest.split()[1])).out)

    @override
    @translated
    async def put(self, path: str, text: str, *, replaces: bool) -> None:
        await asyncio.to_thread(_put, self._root, path, text.encode("utf-8", "replace"), replaces)


def _put(root: Path, path: str, data: bytes, replaces: bool) -> None:  # noqa: FBT001  (called by name of the thread's function)
    place = require_place(root, path)
    try:
        there = read_file(place, MAX_BYTES)
    except Unreadable as error:
        message = f"{path} cannot be put in place: {error}"
        raise RuleViolation(message, remedy="move it away") from error
    if there == data:
        return
    if there is not None and not replaces:
        raise _occupied(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        write_file(place, data, is_first=not replaces, mode=0o666)
    except FileExistsError as error:
        raise _occupied(path) from error


def _occupied(path: str) -> RuleViolation:
    return RuleViolation(f"{path} is there already, and is not overwritten", remedy="move it away, or say --force")


def require_place(root: Path, path: str) -> Path:
    """The path in the work tree.

    Raises:
        RuleViolation: a folder of it leads out of there.
    """
    real, place = os.path.realpath(root), root / path
    folder = os.path.realpath(place.parent)
    if ".." in place.relative_to(root).parts or not Path(folder).is_relative_to(real):
        message = f"{path} would lie outside of the repository, in {folder}"
        raise RuleViolation(message, remedy=f"make {Path(path).parent} a folder of the repository")
    return place
