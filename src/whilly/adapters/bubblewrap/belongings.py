"""What a program needs of the file system besides the system's own directories, told by how it is installed."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Directories that every process in the sandbox sees."""
_SHEBANG = b"#!"
_MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Belongings:
    """What makes a program work at the path at which it is started.

    Attributes:
        trees: files and directories.
        links: symbolic links: where, and to what.
        folders: where programs lie, for `PATH`.
    """

    trees: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    folders: tuple[str, ...] = ()


def is_system(path: Path) -> bool:
    """Whether it is among the system's own directories."""
    return any(path.is_relative_to(folder) for folder in SYSTEM)


def find_belongings(program: str, search: str) -> Belongings:
    """What the program at this absolute path needs.

    Args:
        program: where it is.
        search: a `PATH` in which the interpreter of a script is looked for.
    """
    trees: dict[str, None] = {}
    links: dict[tuple[str, str], None] = {}
    folders: dict[str, None] = {}
    waiting = [Path(program)]
    for _ in range(_MAX_DEPTH):
        if not waiting:
            break
        start = waiting.pop()
        chain = list(_follow(start))
        folders[str(start.parent)] = None
        for link, target in chain[:-1]:
            links[str(link), target] = None
        end = chain[-1][0]
        for tree in _find_trees([link for link, _ in chain]):
            trees[str(tree)] = None
        if (interpreter := _find_interpreter(end, search)) is not None:
            waiting.append(interpreter)
    outside = [tree for tree in trees if not is_system(Path(tree))]
    loose = [pair for pair in links if not _is_inside(Path(pair[0]), outside)]
    return Belongings(tuple(outside), tuple(loose), tuple(folders))


def _follow(path: Path) -> Iterator[tuple[Path, str]]:
    """Each symbolic link from `path` on and its target, then the file itself; parents are resolved at once."""
    for _ in range(40):
        path = Path(os.path.realpath(path.parent), path.name)
        if not path.is_symlink():
            break
        target = os.readlink(path)  # noqa: PTH115  (the text as it stands)
        yield path, target
        path = path.parent / target
    yield path, ""


def _find_trees(chain: list[Path]) -> Iterator[Path]:
    end = chain[-1]
    for path in chain:
        home = path.parent.parent
        if (home / "pyvenv.cfg").is_file() or (path.parent.name == "bin" and any(home.glob("lib/python3*/os.py"))):
            yield home
    if "node_modules" in end.parts:
        yield Path(*end.parts[: end.parts.index("node_modules") + 1])
    else:
        yield end


def _find_interpreter(path: Path, search: str) -> Path | None:
    try:
        with path.open("rb") as file:
            line = file.readline(256)
    except OSError:
        return None
    if not line.startswith(_SHEBANG):
        return None
    words = line[2:].decode(errors="replace").split()
    if words and Path(words[0]).name == "env":
        name = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
        found = shutil.which(name, path=search)
        return Path(found) if found else None
    return Path(words[0]) if words else None


def _is_inside(path: Path, trees: list[str]) -> bool:
    return is_system(path) or any(path.is_relative_to(tree) for tree in trees)
