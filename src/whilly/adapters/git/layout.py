"""Where Whilly's files lie in and beside a repository, and what is remembered of a workspace."""

from __future__ import annotations

import json
import os
import shutil
import stat
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.adapters.git.names import safe_part

if TYPE_CHECKING:
    from whilly.domain.ids import AttemptId, RunId


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of one repository.

    Attributes:
        root: the work tree that Whilly was started in, absolute.
        state: Whilly's own directory, absolute; it ignores itself.
    """

    root: Path
    state: Path

    @property
    def shared_dir(self) -> Path:
        """Git's directory of the repository; `root/.git` unless `root` is itself a linked work tree."""
        git_dir = read_git_dir(self.root)
        if git_dir is None:
            return self.root / ".git"
        try:
            shared = (git_dir / "commondir").read_text(encoding="utf-8", errors="surrogateescape").rstrip("\n")
        except OSError:
            return git_dir
        return Path(os.path.normpath(git_dir / shared))

    def workspace(self, run: RunId) -> Path:
        """The checkout of a run."""
        return self.state / "worktrees" / safe_part(run)

    def record(self, run: RunId) -> Path:
        """What is remembered of a run's workspace."""
        return self.state / "worktrees" / f"{safe_part(run)}.json"

    def checkout(self, name: str) -> Path:
        """A scratch checkout."""
        return self.state / "checkouts" / safe_part(name)

    def registration(self, name: str) -> Path:
        """Git's directory of the linked work tree that git calls `name`."""
        return self.shared_dir / "worktrees" / name

    def prepare(self) -> None:
        """Make the directories."""
        for folder in ("worktrees", "checkouts"):
            (self.state / folder).mkdir(parents=True, exist_ok=True)
        ignore = self.state / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")

    def unregister(self, path: Path) -> None:
        """Remove a linked work tree of ours, first from git's list and then from the disk; absent is not an error."""
        git_dir = read_git_dir(path)
        if git_dir is not None and git_dir.parent == self.shared_dir / "worktrees":
            # In one step, so that no other git sees a part of it.
            gone = self.state / "gone" / git_dir.name
            remove_tree(gone)
            gone.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                git_dir.rename(gone)
            remove_tree(gone)
        remove_tree(path)


@dataclass(frozen=True, slots=True)
class Record:
    """What is remembered of a run's workspace.

    Attributes:
        branch: the branch that was made for the run.
        base: the commit that it was made at.
        name: git's name of this linked work tree; empty until it is known.
        is_ready: the workspace was complete once, so an agent may have worked in it.
        merging: while a merge is being started: the commit that it is merged into.
    """

    branch: str
    base: str
    name: str = ""
    is_ready: bool = False
    merging: str = ""

    def ready(self, name: str) -> Record:
        """The same, complete."""
        return replace(self, name=name, is_ready=True)


def find_record(path: Path) -> Record | None:
    """The record in this file; None when there is none or it cannot be read."""
    try:
        return Record(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_record(path: Path, record: Record) -> None:
    """Write it in one step."""
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    draft.write_text(json.dumps(asdict(record)), encoding="utf-8")
    draft.replace(path)


def read_git_dir(path: Path) -> Path | None:
    """The directory that a work tree's `.git` file names; None when `path` is not a linked work tree."""
    try:
        line = (path / ".git").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    if not line.startswith("gitdir: "):
        return None
    return Path(os.path.normpath(path / line.removeprefix("gitdir: ").rstrip("\n")))


def point_back(git_dir: Path, path: Path) -> None:
    """Write into git's directory of a work tree where that work tree is."""
    (git_dir / "gitdir").write_text(f"{path / '.git'}\n", encoding="utf-8", errors="surrogateescape")


def wip_ref(attempt: AttemptId) -> str:
    """The ref that holds what an attempt left: `refs/whilly/wip/<run>/<number>`."""
    run, _, number = attempt.rpartition("/")
    return f"refs/whilly/wip/{safe_part(run)}/{safe_part(number)}"


def archive_ref(run: RunId, commit: str) -> str:
    """A ref that holds a commit of a run which nothing else may hold."""
    return f"refs/whilly/archive/{safe_part(run)}/{commit[:12]}"


def remove_tree(path: Path) -> None:
    """Remove a directory whatever the modes of what is in it; absent is not an error."""
    if path.is_symlink() or path.is_file():
        path.unlink()
        return
    try:
        shutil.rmtree(path)
    except FileNotFoundError:
        return
    except OSError:
        # Tools leave read-only directories behind (Go's module cache), and a process that is being ended may add a
        # file meanwhile: once more, with all rights.
        for folder, _folders, _files in os.walk(path):
            Path(folder).chmod(stat.S_IRWXU)
        shutil.rmtree(path)
