"""Commits, refs and folders of files in memory: what the repository and the workspace in memory share."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from whilly.domain.errors import NotFound
from whilly.domain.ids import CommitId

_SHORTEST = 4
HEADS = "refs/heads/"


@dataclass(frozen=True, slots=True)
class MemoryCommit:
    """A commit: its files by path, and where it comes from."""

    files: Mapping[str, str]
    parents: tuple[CommitId, ...] = ()
    message: str = ""


@final
@dataclass(slots=True)
class MemoryHistory:
    """A repository's state; tests read and change it directly.

    Attributes:
        refs: by full name.
        checked_out: the places in which branches are checked out, by the branch's name.
        folders: the files in every workspace and checkout, by its path.
    """

    commits: dict[CommitId, MemoryCommit] = field(default_factory=dict)
    refs: dict[str, CommitId] = field(default_factory=dict)
    checked_out: dict[str, str] = field(default_factory=dict)
    folders: dict[str, dict[str, str]] = field(default_factory=dict)

    def make_commit(self, files: Mapping[str, str], parents: tuple[CommitId, ...] = (), message: str = "") -> CommitId:
        """A commit with exactly these files."""
        made = MemoryCommit(dict(files), parents, message)
        text = repr((sorted(made.files.items()), parents, message)).encode("utf-8", "surrogatepass")
        name = CommitId(hashlib.sha1(text, usedforsecurity=False).hexdigest())
        self.commits[name] = made
        return name

    def require_commit(self, commit: CommitId) -> MemoryCommit:
        """The commit of this name.

        Raises:
            NotFound: there is none.
        """
        found = self.commits.get(commit)
        if found is None:
            message = f"there is no commit {commit}"
            raise NotFound(message)
        return found

    def find_commit(self, name: str) -> CommitId | None:
        """What a ref, a branch or an abbreviated name means."""
        for ref in (name, f"{HEADS}{name}"):
            if ref in self.refs:
                return self.refs[ref]
        matches = [commit for commit in self.commits if len(name) >= _SHORTEST and commit.startswith(name)]
        return matches[0] if len(matches) == 1 else None

    def list_ancestors(self, commit: CommitId) -> set[CommitId]:
        """All commits that this one contains, itself among them."""
        met: set[CommitId] = set()
        waiting = [commit]
        while waiting:
            here = waiting.pop()
            if here not in met:
                met.add(here)
                waiting.extend(self.commits[here].parents)
        return met

    def list_forks(self, one: CommitId, other: CommitId) -> list[CommitId]:
        """The best common ancestors of two commits."""
        shared = self.list_ancestors(one) & self.list_ancestors(other)
        covered = {ancestor for commit in shared for ancestor in self.list_ancestors(commit) - {commit}}
        return sorted(shared - covered)

    def is_held(self, commit: CommitId) -> bool:
        """Whether some ref reaches the commit."""
        return any(commit in self.list_ancestors(tip) for tip in self.refs.values())


def merge_files(
    base: Mapping[str, str], ours: Mapping[str, str], theirs: Mapping[str, str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Merge file by file; where both sides changed one differently, it holds both between conflict markers."""
    merged: dict[str, str] = {}
    conflicts = []
    for path in sorted({*base, *ours, *theirs}):
        before, left, right = base.get(path), ours.get(path), theirs.get(path)
        if left in (right, before):
            result = right
        elif right == before:
            result = left
        else:
            conflicts.append(path)
            result = _mark(left, right)
        if result is not None:
            merged[path] = result
    return merged, tuple(conflicts)


def list_changed(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[str, ...]:
    """The paths in which two sets of files differ, sorted."""
    return tuple(sorted(path for path in {*old, *new} if old.get(path) != new.get(path)))


def _mark(left: str | None, right: str | None) -> str:
    if left is None or right is None:
        return left or right or ""
    return f"<<<<<<< ours\n{left}=======\n{right}>>>>>>> theirs\n"
