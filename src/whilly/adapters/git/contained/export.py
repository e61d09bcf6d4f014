"""What lies in a checkout, as a commit: packed inside a sandbox, checked, rebuilt by Whilly."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from whilly.adapters.git.contained import packing
from whilly.adapters.git.contained.clone import INDEX
from whilly.adapters.git.contained.mirror import at
from whilly.adapters.git.removal import remove_tree
from whilly.adapters.shell.command import run_command
from whilly.domain.confinement import Confinement
from whilly.domain.errors import BadResponse, Unavailable
from whilly.domain.ids import CommitId
from whilly.domain.session import Launch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whilly.adapters.git.command import Git
    from whilly.adapters.git.contained.bundle import Quarantine
    from whilly.adapters.git.contained.places import Places
    from whilly.domain.ids import RunId
    from whilly.ports.sandbox import Sandbox

_TIME_LIMIT_S = 600.0
_GRACE_S = 2.0


@dataclass(frozen=True, slots=True)
class Exported:
    """A commit in the user's repository that holds what lay in the checkout; no ref holds it yet.

    Attributes:
        left_out: paths that could not be read.
    """

    commit: CommitId
    left_out: tuple[str, ...] = ()


@final
class Export:
    """Takes work out of checkouts.

    Args:
        trusted: git for the user's repository.
        git: git for repositories of the contained tier.
        root: the user's repository.
    """

    def __init__(
        self, trusted: Git, git: Git, root: Path, places: Places, sandbox: Sandbox, quarantine: Quarantine
    ) -> None:
        self._trusted = trusted
        self._git = git
        self._root = root
        self._places = places
        self._sandbox = sandbox
        self._quarantine = quarantine

    async def take(
        self, run: RunId, parents: Sequence[str], known: Sequence[str], message: str, identity: Mapping[str, str]
    ) -> Exported:
        """The work on top of the first parent, as a commit with these parents.

        Args:
            run: whose checkout it is.
            parents: of the commit.
            message: of the commit.
            identity: who makes it.
            known: commits that are the answer when the work is what they hold.

        Raises:
            BadResponse: what lies there is nothing that git may be given.
            Unavailable: it could not be packed in time.
        """
        tip = parents[0]
        left_out = await self._pack(run, tip)
        name = self._places.run(run).name
        place, tree = await self._quarantine.open(self._out(run) / "result.bundle", tip, name)
        try:
            for commit in known:
                if tree == await self._tree(commit):
                    return Exported(CommitId(commit), left_out)
            words = [word for parent in parents for word in ("-p", parent)]
            body = f"{message}\n".encode()
            made = await self._git.run(place, "commit-tree", tree, *words, stdin=body, env={**at(place), **identity})
            commit = made.text
            await self._git.run(place, "update-ref", "refs/heads/made", commit, env=at(place))
            await self._bring_home(place, commit)
        finally:
            await self._quarantine.discard(place)
            await asyncio.to_thread(remove_tree, self._out(run))
        return Exported(CommitId(commit), left_out)

    async def _bring_home(self, place: Path, commit: str) -> None:
        # By the same transport as from a stranger, so that objects are checked once more; no ref is made yet.
        words = (
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--no-recurse-submodules",
        )
        checked = ("-c", "fetch.fsckObjects=true", "-c", "transfer.fsckObjects=true")
        await self._trusted.run(self._root, *checked, *words, place.as_uri(), commit)

    async def _tree(self, commit: str) -> str:
        return (await self._trusted.run(self._root, "rev-parse", "--verify", f"{commit}^{{tree}}")).text

    def _out(self, run: RunId) -> Path:
        return self._places.run(run) / "out"

    async def _pack(self, run: RunId, tip: str) -> tuple[str, ...]:
        tree, out = self._places.tree(run), self._out(run)
        index = self._places.run(run) / INDEX
        await asyncio.to_thread(remove_tree, out)
        await asyncio.to_thread(out.mkdir, mode=0o700)
        text = await asyncio.to_thread(Path(packing.__file__).read_text, encoding="utf-8")
        words = map(str, (tree, index, self._places.objects, out, tip))
        launch = Launch((sys.executable, "-I", "-S", "-c", text, *words), cwd=str(tree), env={"LANG": "C.UTF-8"})
        reach = Confinement(home="", writable=(str(out),), readable=(str(tree), str(index), str(self._places.objects)))
        held = self._sandbox.contain(launch, reach)
        ended = await run_command(held.argv, held.cwd, held.env, _TIME_LIMIT_S, _GRACE_S)
        said = ended.output.decode("utf-8", "replace").strip()
        if ended.code is None:
            message = f"packing the work of run {run} did not end within {_TIME_LIMIT_S:.0f} s"
            raise Unavailable(message)
        if ended.code != 0:
            message = f"the work of run {run} could not be packed ({ended.code}): {said[-500:]}"
            raise BadResponse(message)
        return _read_left_out(said)


def _read_left_out(said: str) -> tuple[str, ...]:
    try:
        found = json.loads(said.splitlines()[-1])
        return tuple(str(path)[:1000] for path in found)
    except (ValueError, IndexError, TypeError):
        return ()
