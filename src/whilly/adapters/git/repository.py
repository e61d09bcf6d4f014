"""The user's repository, through git's plumbing: no checkout is needed to combine, and none is touched."""

from __future__ import annotations

import asyncio
import re
import shlex
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.git.branch import can_read_heads, find_checkout, find_rebasing, follow_branch
from whilly.adapters.git.checkouts import Checkouts
from whilly.adapters.git.combination import Combination
from whilly.adapters.git.command import explain
from whilly.adapters.git.comparison import list_changed
from whilly.adapters.git.identity import Identity
from whilly.adapters.git.translation import translated
from whilly.domain.errors import RuleViolation
from whilly.domain.ids import CommitId
from whilly.ports.repository import Repository

if TYPE_CHECKING:
    from whilly.adapters.git.command import Git
    from whilly.adapters.git.layout import Layout
    from whilly.domain.change import Combined, Conflicted
    from whilly.ports.clock import Clock


_IN_THE_WAY = re.compile(rb"'refs/heads/([^']+)' exists; cannot create")
_MOVED = (b"but expected", b"reference already exists", b"unable to resolve reference")


@final
class GitRepository(Repository):
    """A repository on this machine."""

    def __init__(self, git: Git, layout: Layout, clock: Clock) -> None:
        self._git = git
        self._layout = layout
        self._checkouts = Checkouts(git, layout)
        self._combination = Combination(git, layout.root, Identity(git, layout, clock))

    @override
    async def find_commit(self, ref: str) -> CommitId | None:
        if not ref or "\0" in ref:
            return None
        answer = await self._git.run(
            self._layout.root,
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            f"{ref}^{{commit}}",
            accept=(0, 1, 128),
        )
        return CommitId(answer.text) if answer.code == 0 else None

    @override
    @translated
    async def checkout(self, commit: CommitId, name: str) -> str:
        return str(await self._checkouts.make(commit, name))

    @override
    @translated
    async def discard(self, name: str) -> None:
        await asyncio.to_thread(self._checkouts.retire, name)

    @override
    async def combine(self, commit: CommitId, base: CommitId, target: CommitId, message: str) -> Combined | Conflicted:
        return await self._combination.combine(commit, base, target, message)

    @override
    @translated
    async def advance(self, branch: str, new: CommitId, old: CommitId | None) -> bool:
        branch = await asyncio.to_thread(follow_branch, self._layout.shared_dir, branch)
        place = await self.checked_out_at(branch)
        if place is not None:
            message = f"branch {branch} is checked out in {place}, so it cannot be moved under its feet"
            remedy = f"switch {place} to another branch (if it is no longer there: git worktree prune)"
            raise RuleViolation(message, remedy=f"{remedy}, or integrate into another branch")
        words = ("update-ref", "-m", "whilly: integrate", f"refs/heads/{branch}", new, old or "0" * len(new))
        answer = await self._git.run(self._layout.root, *words, accept=(0, 1, 128))
        if answer.code == 0:
            return True
        if any(sign in answer.err for sign in _MOVED):
            return False
        if found := _IN_THE_WAY.search(answer.err):
            taken = found[1].decode("utf-8", "surrogateescape")
            message = f"branch {branch} cannot be made: there is a branch {taken}, and git takes / for a folder"
            raise RuleViolation(message, remedy=f"git branch -m {shlex.quote(taken)} NAME, with a name of another kind")
        raise explain(words, answer)

    @override
    @translated
    async def checked_out_at(self, branch: str) -> str | None:
        shared_dir = self._layout.shared_dir
        branch = await asyncio.to_thread(follow_branch, shared_dir, branch)
        if await asyncio.to_thread(can_read_heads, shared_dir):
            return await asyncio.to_thread(find_checkout, shared_dir, branch)
        listed = await self._git.run(self._layout.root, "worktree", "list", "--porcelain", "-z")
        path = ""
        for field in listed.fields:
            if field.startswith("worktree "):
                path = field.removeprefix("worktree ")
            elif field == f"branch refs/heads/{branch}":
                return path
        return await asyncio.to_thread(find_rebasing, shared_dir, branch)

    @override
    async def changed_paths(self, old: CommitId, new: CommitId) -> tuple[str, ...]:
        return await list_changed(self._git, self._layout.root, old, new)

    @override
    async def is_ancestor(self, older: CommitId, newer: CommitId) -> bool:
        answer = await self._git.run(self._layout.root, "merge-base", "--is-ancestor", older, newer, accept=(0, 1))
        return answer.code == 0
