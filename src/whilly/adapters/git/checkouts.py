"""Scratch checkouts: made anew, or out of one that is no longer needed, which writes only the files that differ."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING, final

from whilly.adapters.git.layout import point_back, read_git_dir
from whilly.adapters.git.worktree.opening import is_whole
from whilly.adapters.git.worktree.tree import WorkTree
from whilly.domain.errors import BadResponse, NotFound, PortError

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.adapters.git.command import Git
    from whilly.adapters.git.layout import Layout

MAX_SPARES = 4
SPARE = ".spare-"
"""How the name of a checkout begins that nobody uses."""
_STRICT = ("-c", "core.trustctime=true", "-c", "core.checkStat=default")
_TRACES = ("rebase-merge", "rebase-apply", "BISECT_LOG", "sequencer", "index.lock", "config.worktree")
"""What commands that ran in a checkout may have left in git's directory of it, beyond what git itself clears."""


@final
class Checkouts:
    """Clean checkouts by name. Nothing that an earlier user of the same directory left is in them."""

    def __init__(self, git: Git, layout: Layout) -> None:
        self._git = git
        self._layout = layout

    async def make(self, commit: str, name: str) -> Path:
        """See `Repository.checkout`."""
        path = self._layout.checkout(name)
        await asyncio.to_thread(self._layout.prepare)
        await asyncio.to_thread(self._layout.discard, path)
        tree = await asyncio.to_thread(self._take_spare, path)
        if tree is not None:
            if await self._turn(tree, commit):
                return path
            await asyncio.to_thread(self._layout.discard, path)
        # Twice --force: also in place of a registration that a crash or a lock has left.
        words = ("worktree", "add", "--quiet", "--force", "--force", "--detach", str(path), commit)
        try:
            await self._git.run(self._layout.root, *words)
        except BadResponse as error:
            known = await self._git.run(self._layout.root, "cat-file", "-e", f"{commit}^{{commit}}", accept=(0, 1, 128))
            if known.code == 0:
                raise
            message = f"there is no commit {commit}"
            raise NotFound(message) from error
        return path

    def retire(self, name: str) -> None:
        """See `Repository.discard`; a few are kept for later."""
        path = self._layout.checkout(name)
        git_dir = read_git_dir(path)
        if git_dir is not None and is_whole(path) and not any((git_dir / trace).exists() for trace in _TRACES):
            for number in range(MAX_SPARES):
                spare = path.with_name(f"{SPARE}{number}")
                if not spare.exists() and _move(path, spare):
                    return
        self._layout.discard(path)

    def _take_spare(self, path: Path) -> WorkTree | None:
        for number in range(MAX_SPARES):
            spare = path.with_name(f"{SPARE}{number}")
            if spare.exists() and _move(spare, path):
                git_dir = read_git_dir(path)
                if git_dir is not None and is_whole(path):
                    return WorkTree(self._git, path, git_dir)
                self._layout.discard(path)
        return None

    async def _turn(self, tree: WorkTree, commit: str) -> bool:
        try:
            differs = await tree.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", "HEAD", commit)
            if any(path.endswith(".gitattributes") for path in differs.fields):
                # Files that are the same in both commits may have to be written differently.
                return False
            await tree.run(*_STRICT, "checkout", "--quiet", "--force", "--detach", commit)
            await tree.run(*_STRICT, "clean", "--quiet", "--force", "--force", "-d", "-x")
        except PortError:
            return False
        return await asyncio.to_thread(_has_only_files, tree.path)


def remove_spares(layout: Layout) -> None:
    """Remove the checkouts that are kept for later; what cannot be removed lies in `gone`."""
    for number in range(MAX_SPARES):
        layout.discard(layout.state / "checkouts" / f"{SPARE}{number}")


def _move(old: Path, new: Path) -> bool:
    try:
        old.rename(new)
    except OSError:
        return False
    git_dir = read_git_dir(new)
    if git_dir is not None:
        with suppress(OSError):
            point_back(git_dir, new)
    return True


def _has_only_files(folder: Path) -> bool:
    # `git clean` does not see pipes and sockets.
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif not (entry.is_symlink() or entry.is_file(follow_symlinks=False)):
                    return False
    return True
