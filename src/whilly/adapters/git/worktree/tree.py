"""One linked work tree: git called on exactly that directory, never on the repository around it."""

from __future__ import annotations

import asyncio
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.adapters.git.command import Git, decode, explain

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from whilly.adapters.git.command import Answer

_STATUS = (
    "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=none",
)  # fmt: skip
_CLOSED = re.compile(r"^warning: could not open directory '(.*)': Permission denied", re.MULTILINE)
_BROKEN_INDEX = (b"index file smaller", b"index file corrupt", b"bad signature", b"bad index", b"index uses")
NONE = "000000"
"""The mode of what is not there."""


@dataclass(frozen=True, slots=True)
class Unmerged:
    """A path with a conflict in the index.

    Attributes:
        ours: mode and object name of our side; the mode is `000000` when it has none.
        theirs: the same, of the other side.
    """

    path: str
    ours: tuple[str, str]
    theirs: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Status:
    """A work tree's state.

    Attributes:
        head: the commit checked out; None on a branch without commits.
        branch: the branch checked out; None when HEAD is detached.
        is_dirty: something differs from `head`, in the index or in the files; ignored files do not count.
        is_changed: something in the files differs from the index.
        nested: directories that are repositories of their own and are not tracked by this one.
        gitlinks: the same, but put into the index, as a bare commit name.
        moved_submodules: tracked ones at which another commit is checked out than the index has.
        dirty_submodules: tracked ones with changes that are not committed there.
    """

    head: str | None
    branch: str | None
    is_dirty: bool
    is_changed: bool
    unmerged: tuple[Unmerged, ...]
    nested: tuple[str, ...]
    gitlinks: tuple[str, ...]
    moved_submodules: tuple[str, ...] = ()
    dirty_submodules: tuple[str, ...] = ()


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
        env = {"GIT_INDEX_FILE": str(index)} if index else None
        answer = await self.run(*_STATUS, env=env, accept=(0, 128))
        if answer.code != 0 and any(sign in answer.err for sign in _BROKEN_INDEX):
            await self._replace_index()
            answer = await self.run(*_STATUS, env=env, accept=(0, 128))
        while await asyncio.to_thread(self._open_closed, answer):
            answer = await self.run(*_STATUS, env=env, accept=(0, 128))
        if answer.code != 0:
            raise explain(_STATUS, answer)
        return parse_status(answer.out)

    def _open_closed(self, answer: Answer) -> bool:
        """Whether folders that git could not read can be read now; there may be others in them."""
        return make_readable(self.path, _CLOSED.findall(decode(answer.err)))

    async def _replace_index(self) -> None:
        # It holds nothing that can be read; begin from what is checked out.
        broken = self.git_dir / "index"
        await asyncio.to_thread(broken.replace, self.git_dir / "whilly-broken-index")
        await self.run("read-tree", "HEAD", accept=(0, 128))

    def merging(self) -> str | None:
        """The commit that is being merged in; None when no merge is under way."""
        try:
            return (self.git_dir / "MERGE_HEAD").read_text(encoding="ascii").split()[0]
        except (OSError, IndexError):
            return None

    def reflog(self) -> list[str]:
        """Every commit that was checked out here, oldest first."""
        try:
            raw = (self.git_dir / "logs" / "HEAD").read_bytes()
        except OSError:
            return []
        lines = (decode(line).split(" ", 2) for line in raw.splitlines())
        return list(dict.fromkeys(words[1] for words in lines if len(words) > 1 and words[1].strip("0")))


def make_readable(root: Path, paths: Collection[str]) -> bool:
    """Let their owner read and enter these paths again; whether that could be done for any of them."""
    is_changed = False
    for path in paths:
        place = root / path
        with suppress(OSError):
            mode = place.lstat().st_mode
            wanted = mode | (stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR | stat.S_IWUSR)
            if wanted != mode and not stat.S_ISLNK(mode):
                place.chmod(stat.S_IMODE(wanted))
                is_changed = True
    return is_changed


def parse_status(raw: bytes) -> Status:
    """Read `git status`, porcelain format 2 (git-status(1))."""
    headers: dict[str, str] = {}
    unmerged: list[Unmerged] = []
    nested: list[str] = []
    gitlinks: list[str] = []
    moved: list[str] = []
    dirty: list[str] = []
    is_dirty = is_changed = False
    for entry in filter(None, raw.split(b"\0")):
        kind, _, rest = decode(entry).partition(" ")
        if kind == "#":
            key, _, value = rest.partition(" ")
            headers[key] = value
            continue
        is_dirty = True
        is_changed = is_changed or kind != "1" or rest[1] != "."
        if kind == "u":
            unmerged.append(_read_unmerged(rest))
        elif kind == "?" and rest.endswith("/"):
            nested.append(rest.rstrip("/"))
        elif kind == "1" and rest[3] == "S":
            path = rest.split(" ", 7)[-1]
            # XY, then S and: C for another commit, M for changes, U for new files.
            gitlinks += [path] if rest[0] == "A" else []
            moved += [path] if rest[4] == "C" else []
            dirty += [path] if rest[5:7] != ".." else []
    head = headers.get("branch.oid", "(initial)")
    branch = headers.get("branch.head", "(detached)")
    return Status(
        head=None if head == "(initial)" else head,
        branch=None if branch == "(detached)" else branch,
        is_dirty=is_dirty,
        is_changed=is_changed,
        unmerged=tuple(unmerged),
        nested=tuple(nested),
        gitlinks=tuple(gitlinks),
        moved_submodules=tuple(moved),
        dirty_submodules=tuple(dirty),
    )


def _read_unmerged(entry: str) -> Unmerged:
    # XY, submodule state, modes of base, ours, theirs and the file, objects of the first three, path.
    _xy, _sub, _m1, mode2, mode3, _file, _h1, hash2, hash3, path = entry.split(" ", 9)
    return Unmerged(path, (mode2, hash2), (mode3, hash3))
