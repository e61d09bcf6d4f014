"""Which branch finished items go to, and where they start from."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from whilly.domain.ids import CommitId
    from whilly.ports.repository import Repository


@dataclass(frozen=True, slots=True)
class Branches:
    """Where items start from and where they go.

    Attributes:
        is_aside: the target is not the base, because the base is checked out and must not move under its user's feet.
    """

    base: str
    target: str
    is_aside: bool


async def choose_target(repository: Repository, base: str, wanted: str, aside: str) -> Branches:
    """Choose the target branch and see to it that it exists and holds what the base holds, if it can.

    Args:
        repository: the user's.
        base: the base branch.
        wanted: `auto`, `base` or a branch's name.
        aside: the branch that `auto` uses while the base is checked out.

    Raises:
        ConfigError: the base has no commit, or the target is checked out.
    """
    head = await repository.find_commit(f"refs/heads/{base}") or await repository.find_commit(base)
    if head is None:
        message = f"base branch {base} has no commit"
        raise ConfigError(message, remedy="make a first commit, or set repository.base_branch")
    target = await _name(repository, base, wanted, aside)
    place = await repository.checked_out_at(target)
    if place is not None:
        message = f"branch {target} is checked out in {place}; moving it would falsify that checkout"
        raise ConfigError(
            message, remedy=f"git -C {shlex.quote(place)} switch --detach, or set repository.target = 'auto'"
        )
    await _bring_up(repository, target, head)
    return Branches(base, target, is_aside=target != base)


async def _name(repository: Repository, base: str, wanted: str, aside: str) -> str:
    if wanted == "base":
        return base
    if wanted != "auto":
        return wanted
    return base if await repository.checked_out_at(base) is None else aside


async def _bring_up(repository: Repository, target: str, head: CommitId) -> None:
    """Create the target at the base's head, or move it there when it has nothing of its own."""
    current = await repository.find_commit(f"refs/heads/{target}")
    if current == head:
        return
    if current is None or await repository.is_ancestor(current, head):
        await repository.advance(target, head, current)
