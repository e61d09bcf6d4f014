"""What a commit changes, with the contents: read from objects, never from an agent's files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from whilly.adapters.git.command import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from whilly.adapters.git.command import Git

MAX_READ = 32 * 1024 * 1024
_GONE = "000000"
_LINK = "120000"
_FILES = ("100644", "100755", _LINK)


@dataclass(frozen=True, slots=True)
class Entry:
    """One path that differs between two commits.

    Attributes:
        old_mode: git's mode before; `000000` when it was not there.
        mode: git's mode now; `000000` when it is gone.
        name: of the object now.
        old_name: of the object before.
    """

    path: str
    old_mode: str
    mode: str
    name: str
    old_name: str

    @property
    def is_there(self) -> bool:
        """Whether the path exists now, as a file or a link."""
        return self.mode in _FILES

    @property
    def was_there(self) -> bool:
        """Whether the path existed before, as a file or a link."""
        return self.old_mode in _FILES


async def list_entries(git: Git, root: Path, old: str, new: str) -> list[Entry]:
    """All differing paths; a rename is both of its paths."""
    answer = await git.run(root, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-commit-id", old, new)
    fields = [decode(field) for field in answer.out.split(b"\0")]
    entries = []
    for about, path in zip(fields[0::2], fields[1::2], strict=False):
        old_mode, mode, old_name, name, _status = about.removeprefix(":").split(" ")
        entries.append(Entry(path, old_mode, mode, name, old_name))
    return entries


async def list_present(git: Git, root: Path, commit: str, paths: Iterable[str]) -> Mapping[str, str]:
    """Those of the paths that a commit has as files or links, and the names of their objects."""
    asked = list(paths)
    if not asked:
        return {}
    answer = await git.run(root, "--literal-pathspecs", "ls-tree", "-r", "-z", commit, "--", *asked)
    found = (field.partition("\t") for field in answer.fields)
    return {path: about.split(" ")[2] for about, _, path in found if about.split(" ")[0] in _FILES}


async def measure(git: Git, root: Path, names: Iterable[str]) -> Mapping[str, int]:
    """Sizes of objects in bytes; those that do not exist are left out."""
    asked = "".join(f"{name}\n" for name in dict.fromkeys(names))
    if not asked:
        return {}
    answer = await git.run(root, "cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=asked.encode())
    pairs = (line.split(" ") for line in decode(answer.out).splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}  # noqa: PLR2004  (name, size)


async def read(git: Git, root: Path, names: Iterable[str]) -> Mapping[str, bytes]:
    """Contents of objects; huge ones and those that do not exist are left out."""
    sizes = await measure(git, root, names)
    chosen = [name for name, size in sizes.items() if size <= MAX_READ]
    if not chosen:
        return {}
    asked = "".join(f"{name}\n" for name in chosen)
    found: dict[str, bytes] = {}
    out = (await git.run(root, "cat-file", "--batch", stdin=asked.encode())).out
    place = 0
    for name in chosen:
        place = out.index(b"\n", place) + 1
        found[name] = out[place : place + sizes[name]]
        place += sizes[name] + 1
    return found
