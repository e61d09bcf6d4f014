"""Where the contained tier keeps its files, and what is remembered of a run's checkout."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.adapters.git.names import safe_part

if TYPE_CHECKING:
    from whilly.domain.ids import RunId


@dataclass(frozen=True, slots=True)
class Places:
    """The directories below `.whilly/contained`.

    Attributes:
        root: that directory, absolute.
    """

    root: Path

    @property
    def mirror(self) -> Path:
        """The bare repository whose objects every checkout borrows."""
        return self.root / "mirror.git"

    @property
    def objects(self) -> Path:
        """All of the mirror that a sandbox sees."""
        return self.mirror / "objects"

    @property
    def quarantine(self) -> Path:
        """Repositories that bundles are opened in."""
        return self.root / "quarantine"

    @property
    def gone(self) -> Path:
        """Where directories wait to be removed, as in the other tier."""
        return self.root.parent / "gone"

    def run(self, run: RunId) -> Path:
        """What belongs to one run."""
        return self.root / "runs" / safe_part(run)

    def tree(self, run: RunId) -> Path:
        """A run's checkout: all of it is the agent's."""
        return self.run(run) / "tree"

    def record(self, run: RunId) -> Path:
        """What is remembered of it."""
        return self.root / "runs" / f"{safe_part(run)}.json"

    def checkout(self, name: str) -> Path:
        """A checkout for checks."""
        return self.root / "checkouts" / safe_part(name)


@dataclass(frozen=True, slots=True)
class Unmerged:
    """A path in conflict: mode and object name of each side; the mode is `000000` where a side has none."""

    path: str
    base: tuple[str, str]
    ours: tuple[str, str]
    theirs: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Record:
    """What is remembered of a run's checkout.

    Attributes:
        branch: the branch that was made for the run.
        base: the commit that it was made at.
        tip: the commit that the files in the checkout began as.
        files: the tree that they began as, where a merge has made it another than that of `tip`.
        merged: the commit that was brought in and is not yet a parent of anything.
        unmerged: what was in conflict then.
        saved: the last commit that was made of the checkout.
        is_laid: the checkout was complete once, so an agent may have worked in it.
    """

    branch: str
    base: str
    tip: str
    files: str = ""
    merged: str = ""
    unmerged: tuple[Unmerged, ...] = ()
    saved: str = ""
    is_laid: bool = False


def find_record(path: Path) -> Record | None:
    """The record in this file; None when there is none or it cannot be read."""
    try:
        fields = json.loads(path.read_text(encoding="utf-8", errors="surrogatepass"))
        unmerged = tuple(
            Unmerged(each["path"], *(tuple(each[side]) for side in ("base", "ours", "theirs")))
            for each in fields.pop("unmerged")
        )
        return Record(**fields, unmerged=unmerged)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_record(path: Path, record: Record) -> Record:
    """Write it in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    draft.write_text(json.dumps(asdict(record)), encoding="utf-8", errors="surrogatepass")
    draft.replace(path)
    return record
