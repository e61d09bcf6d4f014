"""What git's files say about a branch, where its commands do not (gitrepository-layout(5))."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_MAX_LINKS = 5
_HEAD_NAMES = ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START")


def follow_branch(shared_dir: Path, branch: str) -> str:
    """The branch that `branch` stands for, if it is a symbolic ref; otherwise itself."""
    for _ in range(_MAX_LINKS):
        link = _read_line(shared_dir / "refs" / "heads" / branch)
        if not link.startswith("ref: refs/heads/"):
            break
        branch = link.removeprefix("ref: refs/heads/").strip()
    return branch


def can_read_heads(shared_dir: Path) -> bool:
    """Whether the branch that a work tree is on can be read from its `HEAD`: not with the `reftable` format."""
    return not (shared_dir / "reftable").exists() and not (shared_dir / "HEAD").is_symlink()


def find_checkout(shared_dir: Path, branch: str) -> str | None:
    """The work tree in which this branch is checked out, or will be again when what is under way in it has ended."""
    return _find_place(shared_dir, "HEAD", f"ref: refs/heads/{branch}") or find_rebasing(shared_dir, branch)


def find_rebasing(shared_dir: Path, branch: str) -> str | None:
    """The work tree that will come back to this branch when the rebase or bisection under way in it ends."""
    places = (_find_place(shared_dir, name, branch, f"refs/heads/{branch}") for name in _HEAD_NAMES)
    return next((place for place in places if place is not None), None)


def _find_place(shared_dir: Path, name: str, *lines: str) -> str | None:
    worktrees = shared_dir / "worktrees"
    linked = sorted(worktrees.iterdir()) if worktrees.is_dir() else []
    for git_dir in (shared_dir, *linked):
        if _read_line(git_dir / name) in lines:
            return (
                str(git_dir.parent) if git_dir == shared_dir else _read_line(git_dir / "gitdir").removesuffix("/.git")
            )
    return None


def _read_line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").strip()
    except (OSError, ValueError):
        return ""
