"""Where Whilly's files lie in and beside a repository, and what is remembered of a workspace."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.adapters.git.names import safe_part
from whilly.adapters.git.removal import list_gone, make_enterable, move_away, remove_tree
from whilly.domain.errors import PortError

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

    @property
    def gone(self) -> Path:
        """Where directories wait to be removed: what is here belongs to nothing any more."""
        return self.state / "gone"

    def remove_gone(self, name: str = "") -> None:
        """Remove what is in `gone`, or that which had this name.

        Raises:
            PortError: some of it cannot be removed.
        """
        stuck: PortError | None = None
        for waiting in list_gone(self.gone, name):
            try:
                remove_tree(waiting)
            except PortError as error:
                stuck = stuck or error
        if stuck is not None:
            raise stuck

    def discard(self, path: Path) -> None:
        """Take a linked work tree off git's list and out of its place, and remove it; what cannot be removed is left.

        Raises:
            PortError: not even out of its place.
        """
        for waiting in self.set_aside(path):
            with suppress(PortError):
                remove_tree(waiting)

    def set_aside(self, path: Path) -> list[Path]:
        """Move a linked work tree of ours off git's list and out of its place; where in `gone` it lies now.

        Raises:
            PortError: it cannot be moved and not be removed either.
        """
        make_enterable(path)
        git_dir = read_git_dir(path)
        # Each in one step: no other git sees a part of it, and nobody takes what is left of it for somebody's work.
        is_ours = git_dir is not None and git_dir.parent == self.shared_dir / "worktrees"
        places = [git_dir, path] if is_ours else [path]
        return [aside for place in places if place is not None and (aside := move_away(place, self.gone)) is not None]


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
