"""Work that was done on another history than the run's: brought back on top of where the run began."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from whilly.adapters.git.command import Git


async def rejoin(git: Git, root: Path, base: str, commit: str, identity: Mapping[str, str]) -> tuple[str, bool]:
    """`commit`, or a merge of it with `base` when it does not build on that.

    An agent may have switched to another branch, reset to an earlier commit or begun a history of its own. Its tree
    lacks then what `base` has got from others; taken as it is, it would take that away again.

    Returns:
        The commit, and whether it builds on `base` now: not when nothing is shared, or when both sides do not fit.
    """
    if commit == base or (await git.run(root, "merge-base", "--is-ancestor", base, commit, accept=(0, 1))).code == 0:
        return commit, True
    merged = await git.run(root, "merge-tree", "--write-tree", "-z", "--name-only", base, commit, accept=(0, 1, 128))
    if merged.code != 0:
        return commit, False
    words = ("commit-tree", merged.fields[0], "-p", base, "-p", commit)
    made = await git.run(root, *words, stdin=b"whilly: brought back to where the run began\n", env=identity)
    return made.text, True
