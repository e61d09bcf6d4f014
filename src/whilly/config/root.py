"""Where a repository begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def find_root(directory: Path) -> Path | None:
    """The root of the git work tree that holds this directory; None outside of one."""
    start = directory.resolve()
    # In a linked work tree or a submodule `.git` is a file.
    return next((place for place in (start, *start.parents) if (place / ".git").exists()), None)
