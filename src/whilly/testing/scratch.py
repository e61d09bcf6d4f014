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
        made.write(made.root, {"README.md": "one\ntwo\nthree\n"})
        made.commit("first")
        return made

    def git(
        self,
        *words: str,
        cwd: Path | str | None = None,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        strip: bool = True,
    ) -> str:
        """Run git, by default at `root`; its output, stripped of white space at its ends unless told otherwise."""
        done = subprocess.run(  # noqa: S603  (words of the suite's own)
            ["git", *words],  # noqa: S607  (the git of PATH is the one under test)
            cwd=cwd or self.root,
            env={**self.env, **(env or {})},
            input=stdin,
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            message = f"git {words} failed: {done.stderr.decode(errors='replace')}"
            raise RuntimeError(message)
        text = done.stdout.decode("utf-8", "surrogateescape")
        return text.strip() if strip else text

    def write(self, folder: Path | str, files: Mapping[str, str | bytes | None]) -> None:
        """Write files below `folder`; None removes one."""
        for name, content in files.items():
            path = Path(folder) / name
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

    def make_commit(self, files: Mapping[str, str | bytes | None], *parents: CommitId) -> CommitId:
        """A commit that changes these files of its first parent; no branch moves and no file is touched."""
        index = {"GIT_INDEX_FILE": str(self.home / "index")}
        (self.home / "index").unlink(missing_ok=True)
        if parents:
            self.git("read-tree", parents[0], env=index)
        lines = []
        for name, content in files.items():
            if content is None:
                lines.append(f"0 {'0' * 40}\t{name}\0")
            else:
                raw = content if isinstance(content, bytes) else content.encode()
                lines.append(f"100644 {self.git('hash-object', '-w', '--stdin', stdin=raw)}\t{name}\0")
        self.git(
            "update-index", "-z", "--index-info", stdin="".join(lines).encode("utf-8", "surrogateescape"), env=index
        )
        words = [word for parent in parents for word in ("-p", parent)]
        return CommitId(self.git("commit-tree", self.git("write-tree", env=index), "-m", "made", *words))

    def set_ref(self, ref: str, commit: CommitId) -> None:
        """Move or create a ref."""
        self.git("update-ref", ref, commit)

    def refs(self) -> Mapping[str, CommitId]:
        """All refs by their full names."""
        listed = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return {name: CommitId(commit) for name, commit in (line.split(" ") for line in listed)}

    def files_of(self, commit: CommitId) -> Mapping[str, str]:
        """A commit's files."""
        names = [
            name for name in self.git("ls-tree", "-r", "-z", "--name-only", commit, strip=False).split("\0") if name
        ]
        return {name: self.git("cat-file", "blob", f"{commit}:{name}", strip=False) for name in names}

    def parents_of(self, commit: CommitId) -> tuple[CommitId, ...]:
        """A commit's parents."""
        return tuple(CommitId(name) for name in self.git("show", "--no-patch", "--format=%P", commit).split())

    def message_of(self, commit: CommitId) -> str:
        """A commit's message."""
        raw = self.git("cat-file", "commit", commit, strip=False)
        return raw.partition("\n\n")[2].removesuffix("\n")

    def files_in(self, folder: str) -> Mapping[str, str]:
        """The regular files below a directory, but for git's own."""
        paths = [
            path for path in Path(folder).rglob("*") if path.is_file() and path.relative_to(folder).parts[0] != ".git"
        ]
        return {
            str(path.relative_to(folder)): path.read_text(encoding="utf-8", errors="surrogateescape") for path in paths
        }

    def is_held(self, commit: CommitId) -> bool:
        """Whether some ref reaches the commit."""
        return bool(self.git("for-each-ref", "--count=1", f"--contains={commit}"))
