"""What a repository is like, before anything is done to it: refusals with remedies, notes, and what is Whilly's."""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.adapters.git.checkouts import SPARE
from whilly.adapters.git.layout import Layout
from whilly.domain.errors import ConfigError, NotAuthorized, NotFound, PortError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whilly.adapters.git.command import Git

OLDEST_GIT = (2, 38)
"""The first with `git merge-tree --write-tree`."""
_USUAL_BASES = ("main", "master", "trunk")


@dataclass(frozen=True, slots=True)
class OwnRefs:
    """What Whilly has made in a repository.

    Attributes:
        worktrees: paths of the linked work trees below Whilly's directory, whether or not they still exist;
            spare checkouts are not among them.
        branches: names of the branches under `whilly/`.
        refs: everything under `refs/whilly/`.
    """

    worktrees: tuple[str, ...]
    branches: tuple[str, ...]
    refs: tuple[str, ...]


async def require_git(git: Git, folder: Path) -> tuple[int, ...]:
    """The version of git.

    Raises:
        ConfigError: git is missing or too old.
    """
    try:
        answer = await git.run(folder, "--version")
    except NotFound as error:
        raise ConfigError(error.message, remedy=error.remedy) from error
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", answer.text)
    version = tuple(int(part) for part in found.groups("0")) if found else ()
    if version[:2] < OLDEST_GIT:
        message = (
            f"git is too old: {answer.text or 'unknown version'}, at least {OLDEST_GIT[0]}.{OLDEST_GIT[1]} is needed"
        )
        raise ConfigError(message, remedy="install a later git")
    return version


async def find_layout(git: Git, folder: Path, state: str = ".whilly") -> Layout:
    """The places of the repository that `folder` is in; `state` is Whilly's directory in its work tree.

    Raises:
        ConfigError: there is no repository, it is bare, it has no commit, or git does not trust its owner.
    """
    words = ("rev-parse", "--is-bare-repository", "--is-inside-git-dir")
    try:
        answer = await git.run(folder, *words, accept=(0, 128))
        if answer.code != 0 and b"not a git repository" in answer.err:
            message = f"{folder} is not in a git repository"
            raise ConfigError(message, remedy="git init && git add --all && git commit -m start, or go to a repository")
        found = answer.text.splitlines() if answer.code == 0 else (await git.run(folder, *words)).text.splitlines()
        if "true" in found:
            message = f"{folder} is a bare repository or inside git's own directory"
            raise ConfigError(message, remedy="start in a work tree: git clone, or git worktree add")
        # By itself: a path may hold a newline.
        top = (await git.run(folder, "rev-parse", "--path-format=absolute", "--show-toplevel")).out
    except NotAuthorized as error:
        raise ConfigError(error.message, remedy=error.remedy) from error
    root = Path(os.fsdecode(top.removesuffix(b"\n")))
    head = await git.run(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", accept=(0, 1, 128))
    if head.code != 0:
        message = f"the repository {root} has no commit yet, so there is nothing to work from"
        raise ConfigError(message, remedy="git add --all && git commit -m start")
    return Layout(root, root / state)


async def detect_base(git: Git, root: Path) -> str:
    """The branch that work starts from: the remote's default, else the one checked out here, else a usual name.

    Raises:
        ConfigError: none of them exists as a local branch.
    """
    remote = await git.run(root, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD", accept=(0, 1))
    current = await git.run(root, "symbolic-ref", "--quiet", "--short", "HEAD", accept=(0, 1))
    wanted = [name for name in (remote.text.removeprefix("origin/"), current.text, *_USUAL_BASES) if name]
    patterns = [f"refs/heads/{name}" for name in wanted]
    listed = await git.run(root, "for-each-ref", "--format=%(refname:lstrip=2)", *patterns)
    there = set(listed.text.splitlines())
    for name in wanted:
        if name in there:
            return name
    message = "HEAD is detached, and there is no branch main, master or trunk"
    raise ConfigError(message, remedy="git switch to the branch to work from, or name it in whilly.toml")


async def list_notes(git: Git, layout: Layout) -> list[str]:
    """What is unusual about the repository and may surprise, each in one sentence with its consequence."""
    notes = []
    asked = await git.run(layout.root, "rev-parse", "--is-shallow-repository")
    if asked.text == "true":
        notes.append("the clone is shallow: a merge may not find where histories part; git fetch --unshallow mends it")
    sparse = await git.run(layout.root, "config", "--type=bool", "core.sparseCheckout", accept=(0, 1))
    if sparse.text == "true":
        notes.append("the checkout is sparse: workspaces hold the same part of the files, checks see only that part")
    if (layout.root / ".gitmodules").exists():
        notes.append("there are submodules: they are not filled in workspaces; let the setup command do it")
    attributes = layout.root / ".gitattributes"
    if attributes.exists() and "filter=lfs" in attributes.read_text(encoding="utf-8", errors="replace"):
        lfs = await git.run(layout.root, "config", "filter.lfs.smudge", accept=(0, 1))
        known = (
            "git-lfs fills them in"
            if lfs.code == 0
            else "git-lfs is not set up, so they stay pointers: git lfs install"
        )
        notes.append(f"some files are kept by Git LFS: {known}")
    return notes


async def list_own(git: Git, layout: Layout) -> OwnRefs:
    """What Whilly has made here, for the doctor."""
    try:
        listed = await git.run(layout.root, "worktree", "list", "--porcelain", "-z")
        refs = await git.run(layout.root, "for-each-ref", "--format=%(refname)", "refs/whilly/", "refs/heads/whilly/")
    except PortError as error:
        raise ConfigError(error.message, remedy=error.remedy) from error
    paths = (field.removeprefix("worktree ") for field in listed.fields if field.startswith("worktree "))
    names = refs.text.splitlines()
    return OwnRefs(
        await asyncio.to_thread(_keep_below, layout.state, paths),
        tuple(name.removeprefix("refs/heads/") for name in names if name.startswith("refs/heads/")),
        tuple(name for name in names if name.startswith("refs/whilly/")),
    )


def _keep_below(folder: Path, paths: Iterable[str]) -> tuple[str, ...]:
    place = os.path.realpath(folder) + os.sep
    return tuple(p for p in paths if os.path.realpath(p).startswith(place) and not Path(p).name.startswith(SPARE))


async def list_remotes(git: Git, root: Path) -> dict[str, str]:
    """The addresses of all remotes as they are written, for fetching and pushing: setting → address."""
    answer = await git.run(root, "config", "-z", "--get-regexp", r"^remote\..*\.(push)?url$", accept=(0, 1))
    return dict(entry.split("\n", 1) for entry in answer.text.split("\0") if "\n" in entry)


async def share_history(git: Git, root: Path, one: str, other: str) -> bool:
    """Whether the two commits, which are here, come from one."""
    return (await git.run(root, "merge-base", one, other, accept=(0, 1, 128))).code == 0
