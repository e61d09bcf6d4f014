"""A run's work tree: made, or found as it was left, at whatever point an earlier call was killed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, final

from whilly.adapters.git.command import explain
from whilly.adapters.git.layout import Record, find_record, point_back, read_git_dir, write_record
from whilly.adapters.git.names import alternatives, safe_branch, safe_part
from whilly.adapters.git.removal import make_enterable, remove_tree
from whilly.adapters.git.worktree.keeping import find_tip, hold_commits
from whilly.adapters.git.worktree.tree import WorkTree
from whilly.domain.errors import NotFound, Unavailable

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.adapters.git.command import Answer, Git
    from whilly.adapters.git.layout import Layout
    from whilly.domain.ids import CommitId, RunId

_ADD = ("worktree", "add", "--quiet", "--force", "--force")
"""Twice: also in place of a registration that a crash or a lock has left."""


@final
class Opening:
    """Work trees by run.

    The record beside a work tree says whether it was ever complete. Before that nobody has worked in it, so what is
    there is thrown away and made again; after that nothing in it is ever thrown away.
    """

    def __init__(self, git: Git, layout: Layout) -> None:
        self._git = git
        self._layout = layout

    async def open(self, run: RunId, branch: str, base: CommitId) -> Path:
        """The run's work tree, whole."""
        path = self._layout.workspace(run)
        make_enterable(path)
        record = find_record(self._layout.record(run))
        if record is not None and record.is_ready and is_whole(path):
            return path
        await asyncio.to_thread(self._layout.prepare)
        if record is None:
            record = await asyncio.to_thread(self._adopt, run, safe_branch(branch), base)
        if record is not None and record.is_ready:
            await self._mend(run, record)
        else:
            await self._make(run, safe_branch(branch), base, record)
        return path

    def find_or_adopt(self, run: RunId) -> Record | None:
        """The run's record, also where it was lost and the work tree is still whole; None without either."""
        make_enterable(self._layout.workspace(run))
        record = find_record(self._layout.record(run))
        if record is None and is_whole(self._layout.workspace(run)):
            record = self._adopt(run, f"whilly/{safe_part(run)}", "")
        return record

    async def require(self, run: RunId) -> tuple[Record, WorkTree]:
        """The run's work tree, mended where needed.

        Raises:
            NotFound: the run has none.
        """
        path = self._layout.workspace(run)
        make_enterable(path)
        record = find_record(self._layout.record(run))
        if record is None or not record.is_ready or not path.is_dir():
            message = f"run {run} has no workspace"
            raise NotFound(message)
        if not is_whole(path):
            record = await self._mend(run, record)
        git_dir = read_git_dir(path)
        if git_dir is None:
            message = f"the workspace {path} lost its .git file"
            raise Unavailable(message)
        return record, WorkTree(self._git, path, git_dir)

    async def _make(self, run: RunId, wanted: str, base: CommitId, earlier: Record | None) -> None:
        path = self._layout.workspace(run)
        await asyncio.to_thread(self._layout.discard, path)
        if earlier is not None and await self._is_fresh(earlier):
            await self._add("-B", earlier.branch, str(path), base)
            self._conclude(run, Record(earlier.branch, base))
            return
        for name in alternatives(wanted, run):
            record = Record(name, base)
            write_record(self._layout.record(run), record)
            answer = await self._add("-b", name, str(path), base)
            if answer.code != 0 and answer.is_repeated and await self._is_fresh(record):
                answer = await self._add("-B", name, str(path), base)
            if answer.code == 0:
                self._conclude(run, record)
                return
        message = f"no name for a branch like {wanted} is free"
        raise Unavailable(message, remedy="delete some branches under whilly/")

    async def _is_fresh(self, record: Record) -> bool:
        """Whether a branch was made by a call that got no further: it holds nothing yet."""
        return await find_tip(self._git, self._layout, record.branch) == (record.base, None)

    async def _add(self, *words: str) -> Answer:
        answer = await self._git.run(self._layout.root, *_ADD, *words, accept=(0, 128, 255))
        if answer.code != 0 and b"exists" not in answer.err:
            if b"invalid reference" in answer.err or b"not a valid" in answer.err:
                message = f"there is no commit {words[-1]}"
                raise NotFound(message)
            raise explain(_ADD, answer)
        return answer

    def _conclude(self, run: RunId, record: Record) -> Record:
        git_dir = read_git_dir(self._layout.workspace(run))
        made = record.ready(git_dir.name if git_dir else "")
        write_record(self._layout.record(run), made)
        return made

    def _adopt(self, run: RunId, wanted: str, base: str) -> Record | None:
        # The record is lost: take over what is there, or move it out of the way; it may hold somebody's work.
        path = self._layout.workspace(run)
        git_dir = read_git_dir(path)
        if git_dir is not None and is_whole(path):
            head = (git_dir / "HEAD").read_text(encoding="utf-8", errors="surrogateescape").strip()
            return self._conclude(
                run, Record(head.removeprefix("ref: refs/heads/") if head[:5] == "ref: " else wanted, base)
            )
        if path.exists():
            path.rename(_free_name(path, "lost"))
        return None

    async def _mend(self, run: RunId, record: Record) -> Record:
        path = self._layout.workspace(run)
        await asyncio.to_thread(_restore_files, path)
        git_dir = self._layout.registration(record.name)
        if not is_whole(path) and (git_dir / "HEAD").exists():
            if path.is_dir():
                await asyncio.to_thread(_link, path, git_dir)
            else:
                lost = WorkTree(self._git, self._layout.root, git_dir)
                head = await lost.run("rev-parse", "--verify", "--quiet", "HEAD", accept=(0, 1, 128))
                await hold_commits(self._git, self._layout, run, [*lost.reflog(), head.text])
                await asyncio.to_thread(remove_tree, git_dir)
        if not is_whole(path):
            await self._attach(run, record)
        return self._conclude(run, record)

    async def _attach(self, run: RunId, record: Record) -> None:
        path = self._layout.workspace(run)
        tip, place = await find_tip(self._git, self._layout, record.branch)
        words = [str(path), record.branch]
        if tip is None:
            words = ["-b", record.branch, str(path), await self._newest(run) or record.base]
        elif place is not None:
            words = ["--detach", str(path), tip]
        if not path.exists():
            await self._add(*words)
            return
        # The files are there, git's side is not: make it elsewhere and move it in.
        await asyncio.to_thread(path.rename, _aside(path))
        await self._add("--no-checkout", *words)
        await asyncio.to_thread(_restore_files, path)
        git_dir = read_git_dir(path)
        if git_dir is not None:
            await WorkTree(self._git, path, git_dir).run("reset", "--quiet", "--mixed")

    async def _newest(self, run: RunId) -> str:
        pattern = f"refs/whilly/wip/{safe_part(run)}"
        answer = await self._git.run(
            self._layout.root, "for-each-ref", "--sort=-committerdate", "--count=1", "--format=%(objectname)", pattern
        )
        return answer.text


def is_whole(path: Path) -> bool:
    """Whether a work tree and git's directory of it name each other."""
    git_dir = read_git_dir(path)
    try:
        if git_dir is None or not (git_dir / "HEAD").exists():
            return False
        back = (git_dir / "gitdir").read_text(encoding="utf-8", errors="surrogateescape").rstrip("\n")
        return (git_dir / back).samefile(path / ".git")
    except OSError:
        return False


def mark_merging(layout: Layout, run: RunId, record: Record, head: str) -> Record:
    """Note that a merge into `head` is being started; an empty `head`: that it is done."""
    marked = replace(record, merging=head)
    write_record(layout.record(run), marked)
    return marked


def _link(path: Path, git_dir: Path) -> None:
    _set_git_aside(path)
    (path / ".git").write_text(f"gitdir: {git_dir}\n", encoding="utf-8", errors="surrogateescape")
    point_back(git_dir, path)


def _restore_files(path: Path) -> None:
    aside = _aside(path)
    if not aside.exists():
        return
    if (path / ".git").exists():
        git_dir = read_git_dir(path)
        _set_git_aside(aside)
        (path / ".git").replace(aside / ".git")
        if git_dir is not None and (git_dir / "HEAD").exists():
            point_back(git_dir, path)
    if path.exists():
        path.rmdir()
    aside.rename(path)


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.files")


def _set_git_aside(path: Path) -> None:
    # A repository that the agent has made in place of ours is its work, too.
    place = path / ".git"
    if place.is_dir() and not place.is_symlink():
        place.rename(_free_name(path, "git"))
    else:
        place.unlink(missing_ok=True)


def _free_name(path: Path, kind: str) -> Path:
    number = 1
    while path.with_name(f"{path.name}.{kind}-{number}").exists():
        number += 1
    return path.with_name(f"{path.name}.{kind}-{number}")
