"""The user's repository in the contained tier: what checks see is a clone, too, as their commands are not trusted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.git.contained.clone import make_clone
from whilly.adapters.git.removal import discard
from whilly.adapters.git.translation import translated
from whilly.ports.repository import Repository

if TYPE_CHECKING:
    from whilly.adapters.git.command import Git
    from whilly.adapters.git.contained.mirror import Mirror
    from whilly.adapters.git.contained.places import Places
    from whilly.adapters.git.identity import Identity
    from whilly.domain.change import Combined, Conflicted
    from whilly.domain.ids import CommitId

_BRANCH = "check"


@final
class ContainedRepository(Repository):
    """A repository of which checks see a clone.

    Args:
        inner: the repository itself; asked for everything but checkouts.
        git: git for repositories of this tier.
    """

    def __init__(self, inner: Repository, git: Git, places: Places, mirror: Mirror, identity: Identity) -> None:
        self._inner = inner
        self._git = git
        self._places = places
        self._mirror = mirror
        self._identity = identity

    @override
    async def find_commit(self, ref: str) -> CommitId | None:
        return await self._inner.find_commit(ref)

    @override
    @translated
    async def checkout(self, commit: CommitId, name: str) -> str:
        place = self._places.checkout(name)
        await asyncio.to_thread(discard, place, self._places.gone)
        await self._mirror.require(commit)
        await make_clone(self._git, self._places, place, _BRANCH, commit, await self._identity.environment())
        return str(place)

    @override
    @translated
    async def discard(self, name: str) -> None:
        await asyncio.to_thread(discard, self._places.checkout(name), self._places.gone)

    @override
    async def combine(self, commit: CommitId, base: CommitId, target: CommitId, message: str) -> Combined | Conflicted:
        return await self._inner.combine(commit, base, target, message)

    @override
    async def advance(self, branch: str, new: CommitId, old: CommitId | None) -> bool:
        return await self._inner.advance(branch, new, old)

    @override
    async def checked_out_at(self, branch: str) -> str | None:
        return await self._inner.checked_out_at(branch)

    @override
    async def changed_paths(self, old: CommitId, new: CommitId) -> tuple[str, ...]:
        return await self._inner.changed_paths(old, new)

    @override
    async def is_ancestor(self, older: CommitId, newer: CommitId) -> bool:
        return await self._inner.is_ancestor(older, newer)
