"""A real repository in a temporary directory, for suites that need one."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.domain.ids import CommitId

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class ScratchRepository:
    """A repository at `root`, with a home of its own, so that the configuration of this machine does not count."""

    root: Path
    home: Path

    @property
    def env(self) -> Mapping[str, str]:
        """The environment in which git finds no configuration but the repository's."""
        return {"PATH": os.defpath, "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}

    @classmethod
    def make(cls, folder: Path) -> ScratchRepository:
        """A repository on branch `main` with one commit: a file `README.md` of three lines."""
        made = cls(folder / "repo", folder / "home")
        made.root.mkdir(parents=True)
        made.home.mkdir(parents=True)
        made.git("init", "--quiet", "--initial-branch=main")
        made.git("config", "user.name", "Ada")
        made.git("config", "user.email", "ada@example.org")
        made.write({"README.md": "one\ntwo\nthree\n"})
        made.commit("first")
        return made

    def git(self, *words: str, cwd: Path | str | None = None, stdin: bytes = b"") -> str:
        """Run git, by default at `root`; its output, stripped."""
        done = subprocess.run(  # noqa: S603  (words of the suite's own)
            ["git", *words],  # noqa: S607  (the git of PATH is the one under test)
            cwd=cwd or self.root,
            env=dict(self.env),
            input=stdin,
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            message = f"git {words} failed: {done.stderr.decode(errors='replace')}"
            raise RuntimeError(message)
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, files: Mapping[str, str | bytes | None], folder: Path | str | None = None) -> None:
        """Write files below `folder`; None removes one."""
        for name, content in files.items():
            path = Path(folder or self.root) / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, message: str, cwd: Path | str | None = None) -> CommitId:
        """Commit everything; the new commit."""
        self.git("add", "--all", cwd=cwd)
        self.git("commit", "--quiet", "--allow-empty", "--message", message, cwd=cwd)
        return CommitId(self.git("rev-parse", "HEAD", cwd=cwd))
