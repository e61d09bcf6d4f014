"""How a clone and a hosted repository belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.adapters.git.command import Git


async def list_remotes(git: Git, root: Path) -> dict[str, str]:
    """The addresses of all remotes as they are written, for fetching and pushing: setting → address."""
    answer = await git.run(root, "config", "-z", "--get-regexp", r"^remote\..*\.(push)?url$", accept=(0, 1))
    return dict(entry.split("\n", 1) for entry in answer.text.split("\0") if "\n" in entry)


async def have_common_history(git: Git, root: Path, one: str, other: str) -> bool:
    """Whether the two commits, which are here, come from one."""
    return (await git.run(root, "merge-base", one, other, accept=(0, 1))).code == 0
