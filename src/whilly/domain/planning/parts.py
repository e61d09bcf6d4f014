"""A large item is divided into parts, and goes on when all of them are done."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from whilly.domain.flow.plan_run import SOLO
from whilly.domain.ids import CommitId
from whilly.domain.work_item import ItemStatus, WorkItem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whilly.domain.ids import ItemId

ENOUGH_CRITERIA: Final = 6
ENOUGH_FILES: Final = 12
_GOES_ON: Final = (ItemStatus.PENDING, ItemStatus.IN_PROGRESS)


@dataclass(frozen=True, slots=True)
class Part:
    """A part and where it stands.

    Attributes:
        commit: that put it on the branch of the whole.
    """

    item: WorkItem
    status: ItemStatus
    reason: str = ""
    commit: CommitId | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """What all the work on an issue has cost so far, whoever did which part of it.

    Attributes:
        sessions: how many there were with agents.
    """

    usd: Decimal = Decimal(0)
    sessions: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """Where all parts stand together.

    Attributes:
        is_done: every part is.
        goes_on: something can be done without a person.
        reason: for people.
    """

    is_done: bool
    goes_on: bool
    reason: str


def is_large(item: WorkItem) -> bool:
    """Whether it is worth asking an agent to take an item apart."""
    return len(item.acceptance_criteria) >= ENOUGH_CRITERIA or len(item.key_files) >= ENOUGH_FILES


def divide(whole: WorkItem, parts: Sequence[WorkItem], steps: Sequence[str]) -> tuple[WorkItem, ...]:
    """The parts as items of their own; each is told what it is a part of, and what others do.

    Args:
        whole: what they are parts of.
        parts: as they were proposed and wired.
        steps: how it is worked on.
    """
    listed = {part.id: f"- {part.id}: {part.title}" for part in parts}
    made = []
    # A part is put on the branch of the whole as a task of a plan file is put on its plan's.
    for part in parts:
        others = [line for name, line in listed.items() if name != part.id]
        told = [
            part.description,
            f"This is a part of {whole.id}: {whole.title}",
            "\n".join(["Other parts, done by others; leave them alone:", *others]),
            "\n".join(["How it is worked on:", *(f"- {step}" for step in steps)]) if steps else "",
        ]
        description = "\n\n".join(each for each in told if each)
        made.append(replace(part, description=description, parent=whole.id, pipeline=SOLO))
    return tuple(made)


def judge_parts(parts: Sequence[Part], whole: ItemId) -> Standing:
    """Where the parts of an item stand together. What a person has cancelled is left out."""
    done = sum(part.status is ItemStatus.DONE for part in parts)
    left_out = [part.item.id for part in parts if part.status is ItemStatus.SKIPPED]
    if done + len(left_out) == len(parts) and (done or not parts):
        reason = f"{done} of {len(parts)} parts are done, {', '.join(left_out)} left out"
        return Standing(is_done=True, goes_on=False, reason=reason if left_out else f"all {done} parts are done")
    told = f"{done} of {len(parts)} parts are done"
    if any(part.status in _GOES_ON for part in parts):
        return Standing(is_done=False, goes_on=True, reason=told)
    settled = {ItemStatus.DONE, ItemStatus.SKIPPED}
    stuck = [f"{part.item.id} {_say(part)}" for part in parts if part.status not in settled]
    how = f"whilly forge {whole} tries them again, whilly cancel PART leaves one out"
    reason = f"{told}; {'; '.join(stuck) or 'all are cancelled'} → {how}"
    return Standing(is_done=False, goes_on=False, reason=reason[:1000])


def _say(part: Part) -> str:
    said = {ItemStatus.HUMAN_LOOP: "waits for a person", ItemStatus.FAILED: "has failed"}
    state = said.get(part.status, f"is {part.status}")
    return f"{state} ({part.reason[:200]})" if part.reason else state
