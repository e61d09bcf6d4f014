"""What `git status` says about a work tree."""

from __future__ import annotations

from dataclasses import dataclass

from whilly.adapters.git.command import decode

STATUS = (
    "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=none",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unmerged:
    """A path with a conflict in the index.

    Attributes:
        modes: of the common ancestor, of ours, of theirs; `000000` where there is none.
        objects: the same three, as object names.
    """

    path: str
    modes: tuple[str, str, str]
    objects: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Status:
    """A work tree's state.

    Attributes:
        head: the commit checked out; None on a branch without commits.
        branch: the branch checked out; None when HEAD is detached.
        is_dirty: something differs from `head`, in the index or in the files; ignored files do not count.
        is_changed: something in the files differs from the index.
        nested: directories, with a trailing `/`, that are repositories of their own.
    """

    head: str | None
    branch: str | None
    is_dirty: bool
    is_changed: bool
    unmerged: tuple[Unmerged, ...]
    nested: tuple[str, ...]


def parse_status(raw: bytes) -> Status:
    """Read the output of `STATUS` (git-status(1), porcelain format 2)."""
    headers: dict[str, str] = {}
    unmerged: list[Unmerged] = []
    nested: list[str] = []
    is_dirty = is_changed = False
    for entry in raw.split(b"\0"):
        kind, _, rest = decode(entry).partition(" ")
        if kind == "#":
            key, _, value = rest.partition(" ")
            headers[key] = value
            continue
        is_dirty = is_dirty or bool(kind)
        is_changed = is_changed or kind in {"u", "?"} or (kind == "1" and rest[1] != ".")
        if kind == "u":
            _xy, _sub, *found, path = rest.split(" ", 9)
            unmerged.append(Unmerged(path, (found[0], found[1], found[2]), (found[4], found[5], found[6])))
        elif kind == "?" and rest.endswith("/"):
            nested.append(rest)
    head = headers.get("branch.oid", "(initial)")
    branch = headers.get("branch.head", "(detached)")
    return Status(
        head=None if head == "(initial)" else head,
        branch=None if branch == "(detached)" else branch,
        is_dirty=is_dirty,
        is_changed=is_changed,
        unmerged=tuple(unmerged),
        nested=tuple(nested),
    )
