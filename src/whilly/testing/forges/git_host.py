"""Bare repositories behind a server, and git's own program for pushing and fetching over HTTP."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.testing.forges.wire import Call, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

_IDENTITY = {
    "GIT_AUTHOR_NAME": "server",
    "GIT_AUTHOR_EMAIL": "server@example.invalid",
    "GIT_COMMITTER_NAME": "server",
    "GIT_COMMITTER_EMAIL": "server@example.invalid",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "PATH": os.defpath,
}


@dataclass(frozen=True, slots=True)
class BareRepository:
    """A bare repository."""

    path: Path

    @classmethod
    def make(cls, path: Path) -> BareRepository:
        """A new one with one commit on `main`."""
        made = cls(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        made._git("init", "--quiet", "--bare", "--initial-branch", "main", str(path), within=path.parent)
        made._git("config", "http.receivepack", "true")
        made.push("main", {"README.md": "# Engine\n"}, onto="")
        return made

    def find(self, ref: str) -> str:
        """The commit of a branch or an id; empty when there is none."""
        done = self._run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        return done.stdout.decode().strip()

    def push(self, branch: str, files: Mapping[str, str], onto: str = "main") -> str:
        """A new commit on a branch, as if somebody had pushed it; the branch is made on `onto` if need be."""
        parent = self.find(branch) or (self.find(onto) if onto else "")
        index = {"GIT_INDEX_FILE": str(self.path / f"index-{branch.replace('/', '-')}")}
        self._git("read-tree", *([parent] if parent else ["--empty"]), env=index)
        for name, text in files.items():
            blob = self._git("hash-object", "-w", "--stdin", feed=text)
            self._git("update-index", "--add", "--cacheinfo", f"100644,{blob},{name}", env=index)
        tree = self._git("write-tree", env=index)
        parents = ["-p", parent] if parent else []
        commit = self._git("commit-tree", tree, *parents, "-m", f"change {', '.join(files)}")
        self._git("update-ref", f"refs/heads/{branch}", commit)
        return commit

    def delete(self, branch: str) -> None:
        """Remove a branch."""
        self._git("update-ref", "-d", f"refs/heads/{branch}")

    def differs(self, base: str, head: str) -> bool:
        """Whether `head` has a commit that `base` has not."""
        return self._git("rev-list", "--count", f"{base}..{head}") != "0"

    def merge_tree(self, base: str, head: str) -> str | None:
        """The tree that merging them makes; None on a conflict."""
        done = self._run("merge-tree", "--write-tree", base, head)
        return done.stdout.decode().split("\n")[0] if done.returncode == 0 else None

    def merge(self, base: str, head: str, message: str) -> str:
        """Merge `head` into the branch `base`; the new commit."""
        tree = self.merge_tree(base, head)
        commit = self._git("commit-tree", str(tree), "-p", self.find(base), "-p", head, "-m", message or "merge")
        self._git("update-ref", f"refs/heads/{base}", commit)
        return commit

    def serve(self, call: Call, service: str) -> Reply:
        """What git's own server program answers to a request of git."""
        env = {
            **_IDENTITY,
            "GIT_PROJECT_ROOT": str(self.path.parent),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": f"/{self.path.name}/{service}",
            "REQUEST_METHOD": call.method,
            "QUERY_STRING": "&".join(f"{name}={value}" for name, value in call.query.items()),
            "CONTENT_TYPE": call.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(call.body)),
            "HTTP_CONTENT_ENCODING": call.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": call.headers.get("git-protocol", ""),
            "REMOTE_USER": "somebody",
        }
        done = subprocess.run(["git", "http-backend"], input=call.body, env=env, capture_output=True, check=True)  # noqa: S607  (the git of the machine)
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        status = int(headers.pop("Status", "200").split()[0])
        return Reply(status, headers={name.lower(): value for name, value in headers.items()}, raw=body)

    def _git(self, *args: str, feed: str = "", within: Path | None = None, env: Mapping[str, str] | None = None) -> str:
        done = self._run(*args, feed=feed, within=within, env=env)
        done.check_returncode()
        return done.stdout.decode().strip()

    def _run(
        self, *args: str, feed: str = "", within: Path | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(  # noqa: S603  (arguments that the kit wrote)
            ["git", *args],  # noqa: S607  (the git of the machine)
            cwd=within or self.path,
            env={**_IDENTITY, **(env or {})},
            input=feed.encode(),
            capture_output=True,
            check=False,
        )
