"""A bundle that came out of a sandbox: nothing in it is believed before it is checked."""

from __future__ import annotations

import asyncio
import os
import re
import stat
from typing import TYPE_CHECKING, final

from whilly.adapters.git.contained.mirror import at, make_bare
from whilly.adapters.git.removal import remove_tree
from whilly.domain.errors import BadResponse

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.adapters.git.command import Git
    from whilly.adapters.git.contained.places import Places

MAX_BYTES = 50 * 1024 * 1024
_HEADER_BYTES = 4096
_HEAD = re.compile(
    rb"\A(?:# v2 git bundle\n|# v3 git bundle\n@object-format=\w+\n)-(?P<base>[0-9a-f]{40,64})(?: [^\n]*)?\n"
    rb"(?P<tip>[0-9a-f]{40,64}) refs/heads/result\n\n"
)


@final
class Quarantine:
    """Opens bundles in repositories of their own, which are thrown away afterwards.

    Args:
        max_bytes: of a bundle.
    """

    def __init__(self, git: Git, places: Places, max_bytes: int = MAX_BYTES) -> None:
        self._git = git
        self._places = places
        self._max_bytes = max_bytes

    async def open(self, bundle: Path, base: str, name: str) -> tuple[Path, str]:
        """A checked repository that holds the bundle's objects, and the name of the tree that it brings.

        Raises:
            BadResponse: it is no bundle on top of `base`, is too large, or holds what git must not be given.
        """
        place = self._places.quarantine / name
        await asyncio.to_thread(remove_tree, place)
        pack, tip = await asyncio.to_thread(self._read, bundle, base)
        try:
            return place, await self._index(place, pack, base, tip)
        except BaseException:
            await self.discard(place)
            raise

    async def _index(self, place: Path, pack: bytes, base: str, tip: str) -> str:
        """Give the pack to a new repository; the tree of its tip."""
        await make_bare(self._git, place, base)
        (place / "objects" / "info").mkdir(exist_ok=True)
        alternates = place / "objects" / "info" / "alternates"
        alternates.write_text(f"{self._places.objects}\n", encoding="utf-8", errors="surrogateescape")
        # `git fetch` from a bundle passes by transfer.fsckObjects (git 2.39); index-pack itself does not.
        words = ("index-pack", "--strict", "--fix-thin", "--stdin")
        answer = await self._git.run(place, *words, stdin=pack, env=at(place), accept=range(256))
        if answer.code != 0:
            said = answer.err.decode("utf-8", "replace").strip()[:500]
            message = f"what the agent left was refused by git's check of objects: {said}"
            raise BadResponse(message, remedy="see docs/explanation/two-tiers.md")
        return (await self._git.run(place, "rev-parse", "--verify", f"{tip}^{{tree}}", env=at(place))).text

    async def discard(self, place: Path) -> None:
        """Throw a repository away."""
        await asyncio.to_thread(remove_tree, place)

    def _read(self, bundle: Path, base: str) -> tuple[bytes, str]:
        try:
            with open(bundle, "rb", opener=_open_exactly) as file:
                about = os.fstat(file.fileno())
                if not stat.S_ISREG(about.st_mode):
                    message = f"what stands for the agent's work is no file: {bundle.name}"
                    raise BadResponse(message)
                if about.st_size > self._max_bytes:
                    message = f"the agent's work is too large: {about.st_size} bytes, at most {self._max_bytes}"
                    raise BadResponse(message)
                data = file.read(self._max_bytes + 1)
        except OSError as error:
            message = f"the agent's work could not be packed: {bundle.name}: {error.strerror}"
            raise BadResponse(message) from error
        head = _HEAD.match(data[:_HEADER_BYTES])
        if head is None or head["base"].decode() != base:
            message = "what stands for the agent's work is no bundle on top of the commit that it began from"
            raise BadResponse(message)
        return data[head.end() :], head["tip"].decode()


def _open_exactly(path: str, flags: int) -> int:
    # Neither a link nor a pipe in its place may lead or hold us up.
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
