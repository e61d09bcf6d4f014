"""A work item: one thing a person wants done."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from whilly.domain.confinement import Tier
from whilly.domain.ids import ItemId


class Priority(StrEnum):
    """How urgent an item is; the order of the members is the order of work."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """0 is the most urgent."""
        return list(Priority).index(self)


class ItemStatus(StrEnum):
    """Where an item stands, in the words of the plan file."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"
    BLOCKED = "blocked"
    HUMAN_LOOP = "human_loop"


@dataclass(frozen=True, slots=True)
class WorkItem:
    """What is to be done, as its author wrote it; never changed by a run.

    Attributes:
        key_files: repository-relative POSIX paths, directories (with or without a trailing `/`) or globs that the
            item is about to change; normalised. Empty means that it claims nothing.
        isolation: the tier that it asks for at least.
        parent: the item that it is a part of, which goes on when all its parts are done.
        pipeline: the one that it goes through; empty is the plan's.
        test_steps: shell commands that prove the item; run by Whilly, not by the agent.
    """

    id: ItemId
    description: str
    priority: Priority = Priority.MEDIUM
    phase: str = ""
    category: str = ""
    dependencies: tuple[ItemId, ...] = ()
    key_files: tuple[str, ...] = ()
    acceptance_criteria: tuple[str, ...] = ()
    test_steps: tuple[str, ...] = ()
    prd_requirement: str = ""
    agent: str = ""
    model: str = ""
    isolation: Tier = Tier.OPEN
    parent: ItemId | None = None
    pipeline: str = ""

    @property
    def title(self) -> str:
        """The first line of the description, at most 72 characters, for lists and commit subjects."""
        first = self.description.strip().splitlines()[0].strip() if self.description.strip() else self.id
        return first if len(first) <= 72 else first[:71].rstrip() + "…"  # noqa: PLR2004  (as the docstring says)
