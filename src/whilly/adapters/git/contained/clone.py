"""A checkout that borrows the mirror's objects and has no remote: `git clone --shared` without its traces."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING

from whilly.adapters.git.contained.mirror import SHA256_LENGTH
from whilly.adapters.git.removal import discard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from whilly.adapters.git.command import Git
    from whilly.adapters.git.contained.places import Places, Unmerged

INDEX = "index"
_NONE = "000000"
_CONFIG = """[core]
\ttrustctime = false
\tcheckStat = minimal
[gc]
\tauto = 0
[maintenance]
\tauto = false
[user]
\tname = {name}
\temail = {email}
"""
"""The owner of the files changes after the index was written; nothing is cleaned up behind Whilly's back."""


async def make_clone(
    git: Git, places: Places, place: Path, branch: str, commit: str, identity: Mapping[str, str]
) -> None:
    """A checkout of `commit` on `branch` at `place`, which must not exist yet."""
    git_dir = place / ".git"
    kind = "sha256" if len(commit) == SHA256_LENGTH else "sha1"
    await asyncio.to_thread(place.mkdir, parents=True)
    await git.run(place, "init", "--quiet", "--template=", f"--object-format={kind}", "--", str(place))
    await asyncio.to_thread(_write, git_dir, places, branch, commit, identity)
    await git.run(place, "reset", "--quiet", "--hard", env=_at(place))


async def lay_merge(git: Git, place: Path, files: str, merged: str, unmerged: Sequence[Unmerged]) -> None:
    """Put a merge that is under way into a fresh checkout: its files, the conflicts in its index, the other head."""
    await git.run(place, "read-tree", "--reset", "-u", files, env=_at(place))
    lines = []
    for entry in unmerged:
        lines.append(f"0 {'0' * len(merged)}\t{entry.path}\0")
        for number, (mode, name) in enumerate((entry.base, entry.ours, entry.theirs), start=1):
            if mode != _NONE:
                lines.append(f"{mode} {name} {number}\t{entry.path}\0")
    stdin = "".join(lines).encode("utf-8", "surrogateescape")
    if stdin:
        await git.run(place, "update-index", "-z", "--index-info", stdin=stdin, env=_at(place))
    (place / ".git" / "MERGE_HEAD").write_text(f"{merged}\n", encoding="ascii")


def keep_index(place: Path) -> None:
    """Copy the index beside a fresh checkout: later looks compare with it, whatever the agent does to its own."""
    shutil.copy2(place / ".git" / "index", place.parent / INDEX)


def replace_tree(fresh: Path, place: Path, gone: Path) -> None:
    """Put a fresh checkout in the place of an older one, of which what cannot be removed lies in `gone`."""
    discard(place, gone)
    fresh.rename(place)


def _write(git_dir: Path, places: Places, branch: str, commit: str, identity: Mapping[str, str]) -> None:
    alternates = git_dir / "objects" / "info" / "alternates"
    alternates.parent.mkdir(parents=True, exist_ok=True)
    alternates.write_text(f"{places.objects}\n", encoding="utf-8", errors="surrogateescape")
    with (git_dir / "config").open("a", encoding="utf-8") as file:
        names = {key: _quote(identity[f"GIT_AUTHOR_{key.upper()}"]) for key in ("name", "email")}
        file.write(_CONFIG.format(**names))
    ref = git_dir / "refs" / "heads" / branch
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.write_text(f"{commit}\n", encoding="ascii")
    (git_dir / "HEAD").write_text(f"ref: refs/heads/{branch}\n", encoding="utf-8")


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'


def _at(place: Path) -> dict[str, str]:
    return {"GIT_DIR": str(place / ".git"), "GIT_WORK_TREE": str(place)}
