"""The mirror: a bare repository with the commits that runs start from, whose objects sandboxes see read-only."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, final

from whilly.domain.errors import NotFound

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.adapters.git.command import Git
    from whilly.adapters.git.contained.places import Places

SHA256_LENGTH = 64


@final
class Mirror:
    """Fetched commit by commit: an agent can read what it was given, and no other branch, stash or run.

    Args:
        git: git for repositories of this tier.
        root: the user's repository.
    """

    def __init__(self, git: Git, root: Path, places: Places) -> None:
        self.git = git
        self._root = root
        self.places = places
        self._lock = asyncio.Lock()

    async def require(self, commit: str) -> None:
        """See that the mirror has this commit.

        Raises:
            NotFound: the user's repository has none of that name.
        """
        async with self._lock:
            place = self.places.mirror
            if not (place / "HEAD").exists():
                await make_bare(self.git, place, commit)
            have = ("cat-file", "-e", f"{commit}^{{commit}}")
            if (await self.git.run(place, *have, env=at(place), accept=(0, 1, 128))).code == 0:
                return
            if (await self.git.run(self._root, *have, accept=(0, 1, 128))).code != 0:
                message = f"there is no commit {commit}"
                raise NotFound(message)
            words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance")
            await self.git.run(place, *words, str(self._root), f"{commit}:refs/heads/{commit}", env=at(place))


async def make_bare(git: Git, place: Path, commit: str) -> None:
    """An empty bare repository for commits named as this one is."""
    await asyncio.to_thread(place.mkdir, parents=True, exist_ok=True)
    kind = "sha256" if len(commit) == SHA256_LENGTH else "sha1"
    words = ("init", "--quiet", "--bare", "--template=", "--shared=0644", f"--object-format={kind}", "--", str(place))
    await git.run(place, *words)


def at(place: Path) -> dict[str, str]:
    """The environment that makes git take exactly this directory for its own."""
    return {"GIT_DIR": str(place)}
