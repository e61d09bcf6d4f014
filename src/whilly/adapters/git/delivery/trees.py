"""GitTrees: the objects of the user's repository, which agents of no tier can write."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.git.command import encode
from whilly.adapters.git.comparison import list_changed
from whilly.adapters.git.contained.contents import Entry, list_entries
from whilly.adapters.git.identity import Identity
from whilly.adapters.git.translation import translated
from whilly.domain.change import Extent
from whilly.domain.ids import CommitId
from whilly.ports.delivery.trees import Trees

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from whilly.adapters.git.command import Git
    from whilly.adapters.git.layout import Layout
    from whilly.ports.clock import Clock

_GONE = "000000"
_COUNT = ("diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-commit-id")
_ONE_FILE = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.splitIndex", "GIT_CONFIG_VALUE_0": "false"}
"""An index of our own is one file, so that nothing of it lies beside the user's."""


@final
class GitTrees(Trees):
    """Works on objects, by an index of its own.

    Args:
        git: git for the user's repository.
        layout: of that.
        clock: for the dates of commits.
    """

    def __init__(self, git: Git, layout: Layout, clock: Clock) -> None:
        self._git = git
        self._layout = layout
        self._identity = Identity(git, layout, clock)

    @override
    async def measure(self, old: CommitId, new: CommitId) -> tuple[Extent, ...]:
        entries = await self._compare(old, new)
        answer = await self._git.run(self._layout.root, *_COUNT, old, new)
        counts = {path: (added, removed) for added, removed, path in (each.split("\t", 2) for each in answer.fields)}
        return tuple(_measure(entry, *counts.get(entry.path, ("-", "-"))) for entry in entries)

    @override
    @translated
    async def overlay(self, commit: CommitId, source: CommitId, paths: Collection[str]) -> CommitId:
        wanted = frozenset(paths)
        chosen = [entry for entry in await self._compare(commit, source) if entry.path in wanted]
        folder = await asyncio.to_thread(_make_folder, self._layout.state)
        try:
            env = {"GIT_INDEX_FILE": str(Path(folder.name) / "index"), **_ONE_FILE}
            tree = await self._write_tree(commit, chosen, env)
        finally:
            await asyncio.to_thread(folder.cleanup)
        message = f"files of {source}\n".encode()
        identity = await self._identity.environment()
        words = ("commit-tree", tree, "-p", commit)
        return CommitId((await self._git.run(self._layout.root, *words, stdin=message, env=identity)).text)

    async def _compare(self, old: CommitId, new: CommitId) -> list[Entry]:
        # Says NotFound where there is no such commit.
        await list_changed(self._git, self._layout.root, old, new)
        return sorted(await list_entries(self._git, self._layout.root, old, new), key=lambda entry: entry.path)

    async def _write_tree(self, commit: CommitId, chosen: list[Entry], env: Mapping[str, str]) -> str:
        root = self._layout.root
        await self._git.run(root, "read-tree", commit, env=env)
        # What goes comes first: it may be a folder where a file is to be.
        lines = [f"0 {'0' * len(commit)}\t{each.path}\0" for each in chosen if each.mode == _GONE]
        lines += [f"{each.mode} {each.name}\t{each.path}\0" for each in chosen if each.mode != _GONE]
        if lines:
            words = ("update-index", "--replace", "-z", "--index-info")
            await self._git.run(root, *words, stdin=encode("".join(lines)), env=env)
        return (await self._git.run(root, "write-tree", env=env)).text


def _make_folder(state: Path) -> tempfile.TemporaryDirectory[str]:
    state.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(prefix="tree-", dir=state)


def _measure(entry: Entry, added: str, removed: str) -> Extent:
    # Git counts no lines of what is no text.
    more, fewer = (int(each) if each.isdigit() else 0 for each in (added, removed))
    return Extent(entry.path, more, fewer, was_there=entry.old_mode != _GONE, is_there=entry.mode != _GONE)
