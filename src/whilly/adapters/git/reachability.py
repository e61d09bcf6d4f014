"""Commits that no branch holds any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.adapters.git.comparison import list_changed
from whilly.domain.ids import CommitId

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from whilly.adapters.git.command import Git


async def find_lost(git: Git, root: Path, commits: Collection[str], refs: Sequence[str]) -> list[str]:
    """Those of `commits` that none of `refs` holds, neither as commits nor by content; the oldest first.

    Content counts where every path that the missing commits changed is in one of `refs` as the newest of them left it:
    so after a squash merge, or one by cherry-picking.
    """
    heads = [head for ref in refs if (head := await _find(git, root, ref))]
    words = ("rev-list", "--ignore-missing", "--topo-order", "--reverse", "--stdin")
    stdin = "".join(f"{name}\n" for name in (*commits, *(f"^{head}" for head in heads)))
    listed = await git.run(root, *words, stdin=stdin.encode())
    wanted = set(commits)
    lost = [commit for commit in listed.text.split() if commit in wanted]
    if not lost:
        return []
    touched: set[str] = set()
    for commit in lost:
        if parent := await _find(git, root, f"{commit}^"):
            touched |= set(await list_changed(git, root, CommitId(parent), CommitId(commit)))
    for head in heads:
        if not touched & set(await list_changed(git, root, CommitId(lost[-1]), CommitId(head))):
            return []
    return lost


async def _find(git: Git, root: Path, ref: str) -> str:
    found = await git.run(root, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", accept=(0, 1, 128))
    return found.text if found.code == 0 else ""
