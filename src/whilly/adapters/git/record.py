"""What is remembered of a run's workspace, beside it."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Record:
    """A workspace's facts.

    Attributes:
        branch: the branch that was made for the run.
        base: the commit that it was made at.
        git_dir: git's own directory of this work tree; empty until it is known.
        is_ready: the workspace was complete once, so an agent may have worked in it.
    """

    branch: str
    base: str
    git_dir: str = ""
    is_ready: bool = False

    def ready(self, git_dir: str) -> Record:
        """The same, complete."""
        return replace(self, git_dir=git_dir, is_ready=True)


def find_record(path: Path) -> Record | None:
    """The record in this file; None when there is none or it cannot be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return Record(str(found["branch"]), str(found["base"]), str(found["git_dir"]), bool(found["is_ready"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_record(path: Path, record: Record) -> None:
    """Write it in one step."""
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    draft.write_text(json.dumps(asdict(record)), encoding="utf-8")
    draft.replace(path)
