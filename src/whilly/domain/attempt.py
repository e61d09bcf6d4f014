"""One try at one stage, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from whilly.domain.ids import CommitId, SessionId


class Outcome(StrEnum):
    """How an attempt ended; every attempt has exactly one."""

    COMPLETED = "completed"
    NO_PROGRESS = "no_progress"
    LIMITED = "limited"
    AUTH_FAILED = "auth_failed"
    STALLED = "stalled"
    TIMED_OUT = "timed_out"
    OVER_BUDGET = "over_budget"
    UNAVAILABLE = "unavailable"
    CRASHED = "crashed"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"
    ASKED = "asked"
    CONFLICT = "conflict"
    REJECTED = "rejected"
    BLOCKED = "blocked"
    PARTIAL = "partial"
    GIVEN_UP = "given_up"


@dataclass(frozen=True, slots=True)
class Usage:
    """What a session used, as its CLI reported it.

    Attributes:
        cost_usd: money, or None when the CLI did not say: unknown is never zero.
    """

    cost_usd: Decimal | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    turns: int = 0

    @property
    def tokens(self) -> tuple[int, int, int, int]:
        """Input, output, cache reads, cache writes."""
        return self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_tokens


def add_usage(first: Usage, second: Usage) -> Usage:
    """Both together; the cost is unknown when one of them is."""
    known = first.cost_usd is not None and second.cost_usd is not None
    cost = (first.cost_usd or Decimal(0)) + (second.cost_usd or Decimal(0)) if known else None
    return Usage(
        cost,
        first.input_tokens + second.input_tokens,
        first.output_tokens + second.output_tokens,
        first.cache_read_tokens + second.cache_read_tokens,
        first.cache_write_tokens + second.cache_write_tokens,
        first.turns + second.turns,
    )


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why something did not pass, in a form that the next attempt can use.

    Attributes:
        summary: one line for people.
        command: the failing command, if a command failed.
        exit_code: its exit code; None when it was ended by a time limit.
        output: the useful end of its output, at most 8,000 characters.
        hints: what was read from the output: error class, innermost frame of the project, missing module.
        fingerprint: equal for the same failure, whatever its timings, addresses and temporary paths.
        remedy: the command of the repository's profile that mends it (a missing dependency), or empty.
        paths: the files concerned (a conflict's files, a refused path).
        word: what a person has said since to whoever works on it, with their name; empty when nobody has.
    """

    summary: str
    command: str = ""
    exit_code: int | None = None
    output: str = ""
    hints: tuple[str, ...] = ()
    fingerprint: str = ""
    remedy: str = ""
    paths: tuple[str, ...] = ()
    word: str = ""


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """What an attempt left.

    Attributes:
        reason: one line for people; empty when completed.
        session: the conversation that can be resumed, if there is one.
        commit: the commit that holds the work so far: the attempt's own, or the merged one after integration.
        retry_at: when a limit resets, or the earliest time that a retry makes sense.
        whom: who must act, when it waits for somebody; empty is anybody.
        is_review: what is asked of a person is to look at `commit`.
        is_escalated: no repair is tried any more, and a person is to decide.
        outside_claims: changed paths outside the item's `key_files`.
        branch: the name of what follows, where a completed stage may lead to several.
        is_deliberate: Whilly itself ended the attempt (a stop, the end of the run's time): it counts for nothing.
    """

    outcome: Outcome
    reason: str = ""
    usage: Usage | None = None
    session: SessionId | None = None
    commit: CommitId | None = None
    evidence: Evidence | None = None
    retry_at: datetime | None = None
    outside_claims: tuple[str, ...] = field(default=())
    is_deliberate: bool = False
    whom: str = ""
    is_review: bool = False
    branch: str = ""
    is_escalated: bool = False
