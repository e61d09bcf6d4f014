"""A work tree's whole content as a commit, without touching what its agent has in its index."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import tempfile
from collections import deque
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.adapters.git.command import decode, encode, explain
from whilly.adapters.git.worktree.tree import Status, make_readable
from whilly.domain.errors import PortError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whilly.adapters.git.worktree.tree import WorkTree

_UNREADABLE = re.compile(r'^error: open\("(.*)"\): (?!No such file)', re.MULTILINE)
_SPECIAL = re.compile(rb"^error: .*: can only add regular files", re.MULTILINE)
"""Pipes and sockets: nothing is in them that could be kept."""
_TRIES = 5
_INDEX = "whilly-index"
_NOTE = "whilly-saved"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A commit that holds everything in a work tree but ignored files.

    Attributes:
        left_out: paths that could not be read.
    """

    commit: str
    status: Status
    left_out: tuple[str, ...] = ()


async def take_snapshot(tree: WorkTree, message: str, identity: Mapping[str, str]) -> Snapshot:
    """Make the commit; no ref holds it yet. Nothing in the work tree, its index or its HEAD changes."""
    status = await tree.status()
    merging = tree.merging()
    if status.head is not None and not status.is_dirty and merging is None:
        return Snapshot(status.head, status)
    written, left_out = await _write_tree(tree, status)
    parents = [commit for commit in (status.head, merging) if commit is not None]
    words = [word for parent in parents for word in ("-p", parent)]
    made = await tree.run("commit-tree", written, *words, stdin=f"{message}\n".encode(), env=identity)
    return Snapshot(made.text, status, left_out)


async def remember_saved(tree: WorkTree, snapshot: Snapshot) -> None:
    """Note beside the work tree that a ref holds this snapshot, so that `find_saved` need not take it again."""
    if snapshot.commit != snapshot.status.head:
        await asyncio.to_thread(_write_note, tree, snapshot)


async def find_saved(tree: WorkTree) -> Snapshot | None:
    """The last snapshot that was remembered, if nothing has changed since; one git process instead of four."""
    note = await asyncio.to_thread(_find_note, tree)
    if note is None or tree.merging() is not None:
        return None
    status = await tree.status(tree.git_dir / _INDEX)
    if status.is_changed or status.head != note["head"]:
        return None
    return Snapshot(note["commit"], status, tuple(json.loads(note["left_out"])))


def _write_note(tree: WorkTree, snapshot: Snapshot) -> None:
    facts = {
        "commit": snapshot.commit,
        "head": snapshot.status.head or "",
        "index": _mark_of_index(tree),
        "left_out": json.dumps(snapshot.left_out),
    }
    (tree.git_dir / _NOTE).write_text(json.dumps(facts), encoding="utf-8")


def _find_note(tree: WorkTree) -> Mapping[str, str] | None:
    try:
        note = json.loads((tree.git_dir / _NOTE).read_text(encoding="utf-8"))
        is_current = note["index"] == _mark_of_index(tree) and (tree.git_dir / _INDEX).exists()
        return {name: str(note[name]) for name in ("commit", "head", "left_out")} if is_current else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _mark_of_index(tree: WorkTree) -> str:
    # The agent may have put something into its index since (an ignored file, by force).
    try:
        found = (tree.git_dir / "index").stat()
    except FileNotFoundError:
        return ""
    return f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"


async def _write_tree(tree: WorkTree, status: Status) -> tuple[str, tuple[str, ...]]:
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="whilly-", dir=tree.git_dir))
    index = {"GIT_INDEX_FILE": str(folder / "index")}
    try:
        await asyncio.to_thread(_copy_index, tree.git_dir, folder)
        left_out = await _add(tree, status, index)
        written = await tree.run("write-tree", env=index)
        await asyncio.to_thread((folder / "index").replace, tree.git_dir / _INDEX)
        return written.text, tuple(sorted(left_out))
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _copy_index(git_dir: Path, folder: Path) -> None:
    (git_dir / _NOTE).unlink(missing_ok=True)
    # With its time: git takes an entry that is younger than its index for possibly changed since.
    if (git_dir / "index").exists():
        shutil.copy2(git_dir / "index", folder / "index")


async def _add(tree: WorkTree, status: Status, index: Mapping[str, str]) -> set[str]:
    nested = [*status.nested, *status.gitlinks]
    for path in status.gitlinks:
        await tree.run("update-index", "--force-remove", "--", path, env=index)
    # git would record a nested repository as a bare commit name, which is nothing outside this work tree, or refuse
    # it and everything else with it.
    specs = b"\0".join(map(encode, [".", *(f":(top,exclude,literal){folder}" for folder in nested)]))
    words = ("add", "--all", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")
    for _ in range(_TRIES):
        added = await tree.run(*words, stdin=specs, env=index, accept=(0, 1, 128))
        left_out = set(_UNREADABLE.findall(decode(added.err)))
        if await asyncio.to_thread(partial(make_readable, tree.path, tuple(left_out))):
            continue
        if added.code == 0 or (added.code == 1 and (left_out or _SPECIAL.search(added.err))):
            break
        if b"unable to stat" not in added.err:
            raise explain(words, added)
    else:
        message = f"files in {tree.path} come and go while they are being saved"
        raise Unavailable(message, remedy="end the processes that still write there")
    return left_out | await _add_nested(tree, nested, index)


async def _add_nested(tree: WorkTree, nested: Sequence[str], index: Mapping[str, str]) -> set[str]:
    left_out: set[str] = set()
    waiting = deque(nested)
    while waiting:
        folder = waiting.popleft()
        try:
            listed = await tree.git.run(
                tree.path / folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"
            )
        except PortError:
            left_out.add(folder)
            continue
        paths = [f"{folder}/{path}" for path in listed.fields]
        inner = {path for path in paths if path.endswith("/") or await asyncio.to_thread(_is_folder, tree.path / path)}
        waiting.extend(path.rstrip("/") for path in inner)
        stdin = b"".join(encode(path) + b"\0" for path in paths if path not in inner)
        added = await tree.run(
            "update-index", "--add", "--remove", "-z", "--stdin", stdin=stdin, env=index, accept=(0, 128)
        )
        if added.code != 0:
            left_out.add(folder)
    return left_out


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
