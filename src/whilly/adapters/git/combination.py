"""A change put on top of a branch as one commit, by `git merge-tree`: nothing is checked out, nothing moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.adapters.git.command import decode
from whilly.domain.change import Combined, Conflicted
from whilly.domain.errors import BadResponse, NotFound
from whilly.domain.ids import CommitId

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from whilly.adapters.git.command import Answer, Git
    from whilly.adapters.git.identity import Identity

_MAX_DETAIL = 4000
_MERGE = ("merge-tree", "--write-tree", "-z", "--name-only", "--messages")


@final
class Combination:
    """Squashes `base..commit` onto a target."""

    def __init__(self, git: Git, root: Path, identity: Identity) -> None:
        self._git = git
        self._root = root
        self._identity = identity

    async def combine(self, commit: CommitId, base: CommitId, target: CommitId, message: str) -> Combined | Conflicted:
        """See `Repository.combine`."""
        identity = await self._identity.environment()
        trees = await self._trees(commit, target, base)
        tree = trees[commit]
        if base != target:
            forks = await self._forks(commit, target)
            start = await self._start(commit, base, forks)
            sides = (target, commit) if forks == [start] else await self._part(target, commit, start, identity)
            merged = await self._git.run(self._root, *_MERGE, *sides, accept=(0, 1))
            if merged.code != 0:
                return _read_conflict(merged, target)
            tree = merged.fields[0]
        made = await self._commit(tree, [target], message, identity)
        return Combined(made, is_same_tree=tree == trees[commit], is_empty=tree == trees[target])

    async def _trees(self, *commits: CommitId) -> dict[CommitId, str]:
        asked = "".join(f"{commit}^{{tree}}\n" for commit in commits)
        answer = await self._git.run(
            self._root, "cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=asked.encode()
        )
        trees = {}
        for commit, line in zip(commits, decode(answer.out).splitlines(), strict=True):
            name, _, kind = line.rpartition(" ")
            if kind != "tree":
                message = f"there is no commit {commit}"
                raise NotFound(message)
            trees[commit] = name
        return trees

    async def _forks(self, commit: CommitId, target: CommitId) -> list[str]:
        answer = await self._git.run(self._root, "merge-base", "--all", target, commit, accept=(0, 1, 128))
        return answer.text.split()

    async def _start(self, commit: CommitId, base: CommitId, forks: Sequence[str]) -> str:
        # A change that has already taken in a later head of the target (a conflict that was resolved) starts there:
        # from `base`, the same conflict would come again.
        if len(forks) == 1 and forks[0] not in {base, commit}:
            later = await self._git.run(self._root, "merge-base", "--is-ancestor", base, forks[0], accept=(0, 1))
            if later.code == 0:
                return forks[0]
        return base

    async def _part(
        self, target: CommitId, commit: CommitId, start: str, identity: Mapping[str, str]
    ) -> tuple[str, str]:
        # git 2.38 finds the merge base by itself (`--merge-base` came with 2.40): give both sides a history in which
        # it is `start`.
        root = await self._commit(f"{start}^{{tree}}", [], "start", identity)
        left = await self._commit(f"{target}^{{tree}}", [root], "target", identity)
        return left, await self._commit(f"{commit}^{{tree}}", [root], "change", identity)

    async def _commit(self, tree: str, parents: Sequence[str], message: str, identity: Mapping[str, str]) -> CommitId:
        words = [word for parent in parents for word in ("-p", parent)]
        body = message.replace("\0", "�").encode("utf-8", "replace").rstrip() + b"\n"
        answer = await self._git.run(self._root, "commit-tree", tree, *words, stdin=body, env=identity)
        return CommitId(answer.text)


def _read_conflict(answer: Answer, target: CommitId) -> Conflicted:
    # With -z: the tree, the conflicted paths, an empty field, then messages as count, paths, type, text.
    head, _, tail = answer.out.partition(b"\0\0")
    _tree, *paths = decode(head).split("\0")
    said = [field.strip() for field in decode(tail).split("\0")]
    detail = "\n".join(line for line in said if line.startswith(("CONFLICT", "warning", "error")))
    if not paths and not detail:
        message = "git merge-tree reported a conflict that it did not name"
        raise BadResponse(message)
    return Conflicted(target, tuple(sorted(set(paths))), detail[:_MAX_DETAIL])
