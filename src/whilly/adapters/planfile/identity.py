"""The names of a plan: one that stays the same for the same file, one that fits into a branch's name."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Final

from whilly.domain.ids import PlanId
from whilly.domain.text.names import slugify

SLUG_LENGTH: Final = 48
DEFAULT_SLUG: Final = "plan"


def slug(name: str) -> str:
    """`name` as lower-case ASCII words joined by `-`, without a `prd-` before or `tasks` after; never empty."""
    bare = name.lower().removeprefix("prd-").removesuffix("tasks")
    return slugify(bare, SLUG_LENGTH) or DEFAULT_SLUG


def relative_name(path: Path, repository: Path) -> str:
    """The file's POSIX path inside the repository; its absolute path where it lies outside."""
    # `Path.resolve` gives up on a link that leads to itself, differently in each version of Python.
    real, root = Path(os.path.realpath(path)), Path(os.path.realpath(repository))
    return real.relative_to(root).as_posix() if real.is_relative_to(root) else real.as_posix()


def plan_id(path: Path, repository: Path) -> PlanId:
    """The same for the same file of the same repository, wherever that is checked out and whatever the file says."""
    digest = sha256(relative_name(path, repository).encode("utf-8", "surrogateescape")).hexdigest()
    return PlanId(f"{slug(path.stem)}-{digest[:8]}")
