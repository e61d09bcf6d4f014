"""Finds the plan files of a repository."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def discover(repository: Path) -> tuple[Path, ...]:
    """`tasks.json` in the root, then `.planning/*tasks*.json` by name; what is not there is left out."""
    candidates = [repository / "tasks.json", *sorted((repository / ".planning").glob("*tasks*.json"))]
    return tuple(path for path in candidates if os.path.isfile(path))  # noqa: PTH113  (never an error)
