"""What a sandbox uses, seen from outside: memory of its processes, room of its directories."""

from __future__ import annotations

import os
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def find_tree(root: int) -> list[int]:
    """The process and all below it."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").iterdir():
        name = path.name
        if name.isdigit():
            fields = _read(f"/proc/{name}/stat").rpartition(")")[2].split()
            if len(fields) > 1:
                parents.setdefault(int(fields[1]), []).append(int(name))
    found = [root]
    for pid in found:
        found += parents.get(pid, ())
    return found


def measure_memory(root: int) -> int:
    """Bytes of memory of their own that the process and all below it hold."""
    total = 0
    for pid in find_tree(root):
        fields = _read(f"/proc/{pid}/statm").split()
        total += (int(fields[1]) - int(fields[2])) * _PAGE if len(fields) > 2 else 0  # noqa: PLR2004 - resident, shared
    return total


def measure_room(folder: str) -> int:
    """Bytes on disk of everything below a directory; what comes and goes meanwhile counts or does not."""
    total = 0
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
    return total


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
