"""What a run changed in a repository."""

from __future__ import annotations

from dataclasses import dataclass

from whilly.domain.attempt import Evidence
from whilly.domain.ids import CommitId


@dataclass(frozen=True, slots=True)
class Saved:
    """Everything that an agent left in its workspace, made safe as a commit.

    Attributes:
        commit: holds the whole tree, also what the agent did not commit; reachable from a ref of Whilly's.
        paths: what differs from the run's base, sorted.
        unresolved: paths that still hold conflict markers, or whose conflict has no markers and is not settled.
        left_out: paths that could not be read.
        stranded: submodules with work that this repository cannot hold; it is in the workspace alone.
        is_astray: it does not build on the run's base, and cannot be brought back there.
    """

    commit: CommitId
    paths: tuple[str, ...]
    unresolved: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    stranded: tuple[str, ...] = ()
    is_astray: bool = False


@dataclass(frozen=True, slots=True)
class Combined:
    """A change put on top of a target's head, as one commit.

    Attributes:
        is_same_tree: the tree is the one that was checked before, so checking it again proves nothing new.
        is_empty: the target holds the whole change already; the commit changes nothing.
    """

    commit: CommitId
    is_same_tree: bool
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class Conflicted:
    """A change that does not fit on a target's head."""

    target: CommitId
    paths: tuple[str, ...]
    detail: str


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of one path differs between two commits.

    Attributes:
        added: lines; 0 for what is no text.
        removed: lines; 0 for what is no text.
        was_there: the older commit has the path.
        is_there: the newer commit has it.
    """

    path: str
    added: int
    removed: int
    was_there: bool = True
    is_there: bool = True


@dataclass(frozen=True, slots=True)
class CheckCommand:
    """A command of the repository's profile or of an item that must pass.

    Attributes:
        accept: the exit codes that count as a pass.
        kind: `setup` (prepares a clean checkout; not itself a check), `verify` or `test_step`.
    """

    run: str
    accept: tuple[int, ...] = (0,)
    kind: str = "verify"


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of the commands on one checkout; they stop at the first failure."""

    passed: tuple[str, ...]
    failure: Evidence | None = None
