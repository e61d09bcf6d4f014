"""Work that is handed to a person: what they get, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import assert_never

from whilly.domain.attempt import Outcome, Usage
from whilly.domain.ids import AttemptId, ItemId


class AnswerStatus(StrEnum):
    """What a person says of the work that they were handed."""

    COMPLETE = "complete"
    """It is done; the checks decide."""
    FAILED = "failed"
    """It cannot be done: the task has failed."""
    BLOCKED = "blocked"
    """Something is in the way; it waits until somebody lets it go on."""
    HUMAN_LOOP = "human_loop"
    """Somebody has to decide; it waits for them."""
    PARTIAL = "partial"
    """A part is done and kept; the rest is handed on, with the message."""


@dataclass(frozen=True, slots=True)
class Handoff:
    """One attempt in somebody's hands.

    Attributes:
        prompt: the whole task.
        workspace: absolute path of the checkout to work in.
        started_at: when it was handed over; None is now.
        time_limit: after which it is taken back; None is never.
    """

    attempt: AttemptId
    item: ItemId
    title: str
    stage: str
    prompt: str
    workspace: str
    branch: str = ""
    source: str = ""
    started_at: datetime | None = None
    time_limit: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a hand-off.

    Attributes:
        whom: who has to act next, for `blocked` and `human_loop`; empty is anybody.
        took: how long it took, if they say so.
    """

    status: AnswerStatus
    message: str = ""
    by: str = ""
    whom: str = ""
    usage: Usage = field(default_factory=Usage)
    took: timedelta | None = None


class HandoffState(StrEnum):
    """Where a hand-off stands."""

    ABSENT = "absent"
    """It was never made."""
    OPEN = "open"
    ANSWERED = "answered"
    SPOILED = "spoiled"
    """There is an answer that cannot be used; it is open until there is one that can."""
    WITHDRAWN = "withdrawn"
    """It was taken back; nothing that is answered counts any more."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A hand-off as it is found.

    Attributes:
        handoff: what was handed over; its prompt is left out. None when it is absent.
        answer: once it is answered.
        problem: what is wrong with the answer, or why it was withdrawn.
        place: where it lies, for people.
    """

    state: HandoffState
    place: str = ""
    handoff: Handoff | None = None
    answer: Answer | None = None
    problem: str = ""


def judge_answer(answer: Answer) -> tuple[Outcome, str]:
    """What an answer means for the attempt, and the reason for people."""
    who = answer.by or "somebody"
    said = f"{who} says: {answer.message}" if answer.message else f"{who} gave no reason"
    match answer.status:
        case AnswerStatus.COMPLETE:
            return Outcome.COMPLETED, ""
        case AnswerStatus.FAILED:
            return Outcome.GIVEN_UP, said
        case AnswerStatus.BLOCKED:
            return Outcome.BLOCKED, f"blocked: {said}"
        case AnswerStatus.HUMAN_LOOP:
            return Outcome.ASKED, f"a decision is needed: {said}"
        case AnswerStatus.PARTIAL:
            return Outcome.PARTIAL, f"a part is done: {said}"
        case _:
            assert_never(answer.status)


def name_handoff(attempt: AttemptId) -> str:
    """The name of an attempt's hand-off, fit for a path; no two attempts share one."""
    return "".join("_" if char in '/\\: \0"' else char for char in attempt)
