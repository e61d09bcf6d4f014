"""How people get finished work that was put beside their branch."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.application.choose_target import Branches
    from whilly.ports.repository import Repository


async def explain_take_over(repository: Repository, branches: Branches, root: Path) -> str:
    """The command that brings the target's commits into the base branch; empty when there is nothing to bring.

    Args:
        repository: the user's.
        branches: where the work started from and where it went.
        root: the work tree in which the user gave the command.
    """
    base = await repository.find_commit(f"refs/heads/{branches.base}")
    target = await repository.find_commit(f"refs/heads/{branches.target}")
    if base is None or target is None or await repository.is_ancestor(target, base):
        return ""
    is_ahead = await repository.is_ancestor(base, target)
    merge = f"merge {'--ff-only ' if is_ahead else ''}{shlex.quote(branches.target)}"
    place = await repository.checked_out_at(branches.base)
    if place is None:
        return f"git switch {shlex.quote(branches.base)} && git {merge}"
    return f"git {merge}" if place == str(root) else f"git -C {shlex.quote(place)} {merge}"
