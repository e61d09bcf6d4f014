"""Packs what lies in a checkout into a bundle. A program that runs inside the sandbox, by itself, as `python -I -S -c`.

It uses a repository of its own: nothing that the agent has put into its `.git` counts. Repositories that the agent has
made inside the checkout are taken as plain files.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SHA256_LENGTH = 64
_UNREADABLE = re.compile(
    rb'^error: open\("(?P<path>.*)"\): (?!No such file)|^error: (?P<special>.*): can only add regular files',
    re.MULTILINE,
)


def main(tree: str, index: str, objects: str, out: str, base: str) -> int:
    """TREE to be packed, INDEX as it began, OBJECTS to borrow, OUT for the bundle, BASE commit."""
    own = f"{out}/own.git"
    environ = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        **{f"GIT_{who}_{what}": "whilly" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    kind = "sha256" if len(base) == SHA256_LENGTH else "sha1"
    git = Git(environ)
    git.run("init", "--quiet", "--bare", "--template=", f"--object-format={kind}", own)
    Path(own, "objects/info").mkdir(exist_ok=True)
    Path(own, "objects/info/alternates").write_text(f"{objects}\n")
    Path(own, "index").write_bytes(Path(index).read_bytes())
    os.utime(f"{own}/index", ns=(os.stat(index).st_atime_ns, os.stat(index).st_mtime_ns))
    environ |= {"GIT_DIR": own, "GIT_WORK_TREE": tree}
    os.chdir(tree)
    left_out = add_all(git, sorted(find_nested(b".")))
    written = git.run("write-tree").decode().strip()
    commit = git.run("commit-tree", written, "-p", base, stdin=b"result\n").decode().strip()
    git.run("update-ref", "refs/heads/result", commit)
    git.run("bundle", "create", "--quiet", f"{out}/result.bundle", "refs/heads/result", f"^{base}")
    print(json.dumps([os.fsdecode(path).encode("utf-8", "replace").decode() for path in left_out]))
    return 0


class Git:
    """Runs git."""

    SETTINGS = ("core.trustctime=false", "core.checkStat=minimal", "core.safecrlf=false", "core.fsmonitor=false")

    def __init__(self, environ: dict[str, str]) -> None:
        self.environ = environ
        self.err = b""

    def run(self, *words: str | bytes, stdin: bytes = b"", accept: tuple[int, ...] = (0,)) -> bytes:
        """Its output; an exit code that is not in `accept` ends this program."""
        settings = [word for setting in self.SETTINGS for word in ("-c", setting)]
        done = subprocess.run(
            ["git", *settings, *words], input=stdin, capture_output=True, check=False, env=self.environ
        )
        self.err = done.stderr
        if done.returncode not in accept:
            sys.stderr.write(f"git {words[0]!r}: {done.stderr.decode(errors='replace')}\n")
            sys.exit(3)
        return done.stdout


def find_nested(folder: bytes) -> Iterator[bytes]:
    """Directories below this one that look like repositories of their own."""
    for place, folders, files in os.walk(folder):
        if place != folder and b".git" in folders + files:
            yield os.path.relpath(place, folder)
        folders[:] = [name for name in folders if name != b".git"]


def add_all(git: Git, nested: list[bytes]) -> list[bytes]:
    """Put everything but ignored files into the index; what could not be read."""
    specs = b"\0".join([b".", *(b":(top,exclude,literal)" + path for path in nested)])
    words = ("add", "--all", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")
    git.run(*words, stdin=specs, accept=(0, 1))
    left_out = [found["path"] or found["special"] for found in _UNREADABLE.finditer(git.err)]
    for path in nested:
        ignored = git.run("check-ignore", "--", path, accept=(0, 1, 128))
        if not ignored:
            git.run("update-index", "--add", "--remove", "-z", "--stdin", stdin=list_files(path), accept=(0, 1, 128))
    return left_out


def list_files(folder: bytes) -> bytes:
    """The files of a nested repository, but for its `.git` and what lies in further ones."""
    found = []
    for place, folders, files in os.walk(folder):
        is_other = place != folder and b".git" in folders + files
        folders[:] = [] if is_other else [name for name in folders if name != b".git"]
        names = [] if is_other else [name for name in files if name != b".git"]
        names += [name for name in folders if os.path.islink(os.path.join(place, name))]
        found += [os.path.join(place, name) + b"\0" for name in names]
    return b"".join(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
