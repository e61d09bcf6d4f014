"""One work tree: git called on exactly that directory, never on the repository around it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.adapters.git.command import Git
from whilly.adapters.git.status import STATUS, Status, parse_status

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from whilly.adapters.git.command import Answer


@dataclass(frozen=True, slots=True)
class WorkTree:
    """A linked work tree.

    A workspace lies inside the user's own work tree: without its `.git` file, git would go on looking upwards and
    find the user's. So git is always told both directories.
    """

    git: Git
    path: Path
    git_dir: Path

    async def run(
        self,
        *args: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        accept: Collection[int] = (0,),
    ) -> Answer:
        """Run git here."""
        place = {"GIT_DIR": str(self.git_dir), "GIT_WORK_TREE": str(self.path)}
        return await self.git.run(self.path, *args, stdin=stdin, env={**place, **(env or {})}, accept=accept)

    async def status(self, index: Path | None = None) -> Status:
        """Its state, as against its own index or another one."""
        answer = await self.run(*STATUS, env={"GIT_INDEX_FILE": str(index)} if index else None)
        return parse_status(answer.out)

    def merging(self) -> str | None:
        """The commit that is being merged in; None when no merge is under way."""
        try:
            return (self.git_dir / "MERGE_HEAD").read_text(encoding="ascii").split()[0]
        except (OSError, IndexError):
            return None


def read_git_dir(path: Path) -> Path | None:
    """The directory that a work tree's `.git` file names; None when it is not a linked work tree."""
    try:
        line = (path / ".git").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    if not line.startswith("gitdir: "):
        return None
    return (path / line.removeprefix("gitdir: ").rstrip("\n")).resolve()
