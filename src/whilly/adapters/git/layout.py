"""Where Whilly's files lie in and beside a repository."""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass
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

    def workspace(self, run: RunId) -> Path:
        """The checkout of a run."""
        return self.state / "worktrees" / safe_part(run)

    def record(self, run: RunId) -> Path:
        """What is remembered of a run's workspace."""
        return self.state / "worktrees" / f"{safe_part(run)}.json"

    def checkout(self, name: str) -> Path:
        """A scratch checkout."""
        return self.state / "checkouts" / safe_part(name)

    def prepare(self) -> None:
        """Make the directories."""
        for folder in ("worktrees", "checkouts"):
            (self.state / folder).mkdir(parents=True, exist_ok=True)
        ignore = self.state / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")


def wip_ref(attempt: AttemptId) -> str:
    """The ref that holds what an attempt left: `refs/whilly/wip/<run>/<number>`."""
    run, _, number = attempt.rpartition("/")
    return f"refs/whilly/wip/{safe_part(run)}/{safe_part(number)}"


def archive_ref(run: RunId, name: str) -> str:
    """A ref that holds commits of a run which nothing else may hold."""
    return f"refs/whilly/archive/{safe_part(run)}/{name}"


def remove_tree(path: Path) -> None:
    """Remove a directory whatever the modes of what is in it; absent is not an error."""
    if path.is_symlink() or path.is_file():
        path.unlink()
        return
    try:
        shutil.rmtree(path)
    except FileNotFoundError:
        return
    except PermissionError:
        # Tools leave read-only directories behind (Go's module cache); their owner may still open them.
        for folder, _folders, _files in os.walk(path):
            Path(folder).chmod(stat.S_IRWXU)
        shutil.rmtree(path)
