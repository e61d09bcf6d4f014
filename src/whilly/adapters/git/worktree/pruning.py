"""What was left of work trees, taken away after its commits are held by refs."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.adapters.git.layout import read_git_dir
from whilly.adapters.git.removal import remove_tree
from whilly.adapters.git.worktree.keeping import hold_commits
from whilly.adapters.git.worktree.tree import WorkTree
from whilly.domain.ids import RunId

if TYPE_CHECKING:
    from whilly.adapters.git.command import Git
    from whilly.adapters.git.layout import Layout


@dataclass(frozen=True, slots=True)
class Missing:
    """A linked work tree of Whilly's that git still has on its list, and that is gone.

    Attributes:
        git_dir: git's directory of it.
        place: where it was.
    """

    git_dir: Path
    place: Path


def find_missing(layout: Layout) -> list[Missing]:
    """Work trees below Whilly's directory that git knows and that do not exist, by place."""
    inside = os.path.realpath(layout.state) + os.sep
    listed = layout.shared_dir / "worktrees"
    found = [Missing(git_dir, _read_place(git_dir)) for git_dir in (listed.iterdir() if listed.is_dir() else ())]
    gone = (each for each in found if os.path.realpath(each.place).startswith(inside) and not each.place.exists())
    return sorted(gone, key=lambda each: each.place)


async def forget_missing(git: Git, layout: Layout, missing: Missing) -> None:
    """Take it off git's list, as `git worktree prune` does, but after everything that was checked out in it is held."""
    await _hold(git, layout, missing.place.name, WorkTree(git, layout.root, missing.git_dir))
    await asyncio.to_thread(remove_tree, missing.git_dir)


async def put_away_checkout(git: Git, layout: Layout, path: Path) -> None:
    """Remove a scratch checkout after everything that was checked out in it is held."""
    git_dir = read_git_dir(path)
    if git_dir is not None and git_dir.is_dir():
        await _hold(git, layout, path.name, WorkTree(git, layout.root, git_dir))
    await asyncio.to_thread(layout.discard, path)


async def _hold(git: Git, layout: Layout, name: str, tree: WorkTree) -> None:
    head = await tree.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", accept=(0, 1, 128))
    await hold_commits(git, layout, RunId(name), [*tree.reflog(), head.text if head.code == 0 else ""])


def _read_place(git_dir: Path) -> Path:
    try:
        told = (git_dir / "gitdir").read_text(encoding="utf-8", errors="surrogateescape").rstrip("\n")
    except OSError:
        return git_dir
    return Path(os.path.normpath(git_dir / told)).parent
