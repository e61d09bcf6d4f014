"""A work tree's whole content as a commit, without touching what its agent has in its index."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.adapters.git.command import encode
from whilly.adapters.git.status import Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whilly.adapters.git.tree import WorkTree


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A commit that holds everything in a work tree but ignored files.

    Attributes:
        left_out: paths that could not be read.
    """

    commit: str
    status: Status
    left_out: tuple[str, ...] = ()


async def take_snapshot(tree: WorkTree, message: str, identity: Mapping[str, str]) -> Snapshot:
    """Make the commit; no ref holds it yet."""
    status = await tree.status()
    merging = tree.merging()
    if status.head is not None and not status.is_dirty and merging is None:
        return Snapshot(status.head, status)
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="whilly-", dir=tree.git_dir))
    try:
        index = {"GIT_INDEX_FILE": str(folder / "index")}
        await asyncio.to_thread(_copy_index, tree.git_dir, folder)
        await _add(tree, status.nested, index)
        written = await tree.run("write-tree", env=index)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    parents = [commit for commit in (status.head, merging) if commit is not None]
    words = [word for parent in parents for word in ("-p", parent)]
    made = await tree.run("commit-tree", written.text, *words, stdin=f"{message}\n".encode(), env=identity)
    return Snapshot(made.text, status)


def _copy_index(git_dir: Path, folder: Path) -> None:
    # With its time: git takes an entry that is younger than its index for possibly changed since.
    if (git_dir / "index").exists():
        shutil.copy2(git_dir / "index", folder / "index")


async def _add(tree: WorkTree, nested: Sequence[str], index: Mapping[str, str]) -> None:
    # Without `-A` on them: git would record a nested repository as a bare commit name, or refuse.
    specs = [".", *(f":(top,exclude,literal){folder.rstrip('/')}" for folder in nested)]
    await tree.run(
        "add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=b"\0".join(map(encode, specs)), env=index
    )
    for folder in nested:
        inner = await tree.git.run(tree.path / folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        paths = b"".join(encode(folder) + path + b"\0" for path in inner.out.split(b"\0") if path)
        await tree.run("update-index", "--add", "--remove", "-z", "--stdin", stdin=paths, env=index)
