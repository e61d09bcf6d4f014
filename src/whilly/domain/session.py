"""A conversation with an agent CLI: what is asked, what it does, what it leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from whilly.domain.attempt import Outcome, Usage
from whilly.domain.ids import AttemptId, SessionId

COMPLETION_MARKER = "<promise>COMPLETE</promise>"
"""What an agent says, as the end of its final message, when it holds the work to be done."""


_SENTENCE_ENDS = ".!?…:)✓✅"


def claims_completion(final_message: str) -> bool:
    """True when the completion marker ends the message, alone on its line or after a finished sentence or one word.

    Quoting it in prose is not a claim: "so I do not write <promise>COMPLETE</promise>".
    """
    last = final_message.rstrip().rpartition("\n")[2]
    before = last.removesuffix(COMPLETION_MARKER).strip()
    if before == last.strip():
        return False
    return not before or before.isalpha() or before[-1] in _SENTENCE_ENDS


def without_marker(final_message: str) -> str:
    """The message without the marker at its end: an agent that was asked for an answer may write it all the same."""
    return final_message.rstrip().removesuffix(COMPLETION_MARKER).rstrip()


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """One session to be had with an agent.

    Attributes:
        prompt: the whole task, as text.
        workspace: absolute path of the checkout to work in.
        home: absolute path of a private directory of this attempt, outside the workspace.
        session: the id to give to a new session, where the CLI lets us choose.
        resume: the session to go on with; None starts a new one.
        max_cost_usd: what this session may cost; None is no limit.
    """

    attempt: AttemptId
    prompt: str
    workspace: str
    home: str
    session: SessionId
    resume: SessionId | None = None
    model: str = ""
    max_cost_usd: Decimal | None = None
    max_turns: int = 0


@dataclass(frozen=True, slots=True)
class Prior:
    """What is known of a session before its first line is read.

    Attributes:
        model: the one that was asked for; empty leaves the choice to the CLI.
        session: the session that is gone on with; None for a new one.
        booked: what that session's earlier attempts were booked with. A CLI may repeat it in what it reports.
        began_at: when the attempt began, for CLIs that say a time of day without its date.
        deposit: USD that stand for earlier attempts in that session of which nothing is known.
    """

    model: str = ""
    session: SessionId | None = None
    booked: Usage = field(default_factory=Usage)
    began_at: datetime | None = None
    deposit: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Launch:
    """A process to start for a session.

    Attributes:
        argv: the program and its arguments; never a shell line.
        env: the whole environment of the process; nothing is inherited.
        stdin: what it reads; None is an empty standard input.
        time_limit: when the supervisor ends it by itself, even if Whilly is gone; None is no limit.
        grace: between TERM and KILL.
        output_limit: bytes of output and errors after which it is ended, even if Whilly is gone; 0 is no limit.
        files: to be written before it starts: absolute path → text. They hold no secret.
        links: symbolic links to be made before it starts, where the target exists: absolute path → target.
        has_own_tmp: whether it gets a temporary folder of its own, which is removed when it has ended.
        needs: absolute paths besides the program that it reads: what a sandbox has to show it.
    """

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: str | None = None
    time_limit: timedelta | None = None
    grace: timedelta | None = None
    output_limit: int = 0
    files: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    has_own_tmp: bool = False
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exit:
    """How a session's process ended.

    Attributes:
        code: exit code; None when it ended by a signal or without leaving word.
        signal: number of the signal that ended it; None otherwise.
        cause: who ended it: `""` itself, `stopped` (we asked), `time_limit`
            or `output_limit` (the supervisor), `over_budget`, `memory` or `disk` (its sandbox), `lost` (no word left).
        stderr_tail: the last 4,000 characters of its standard error.
        usage: what a gateway has measured; None when there was none, or nothing went through it.
    """

    code: int | None
    signal: int | None = None
    cause: str = ""
    stderr_tail: str = ""
    usage: Usage | None = None


_ENDING_SIGNALS = {1: "SIGHUP", 2: "SIGINT", 15: "SIGTERM"}
"""Sent by people and by a machine that goes down. POSIX fixes these numbers; a CLI may turn them into 128 + n."""

_CAUSES = {
    "stopped": (Outcome.INTERRUPTED, "it was stopped"),
    "time_limit": (Outcome.TIMED_OUT, "its time limit passed"),
    "output_limit": (Outcome.CRASHED, "it wrote more output than it may"),
    "over_budget": (Outcome.OVER_BUDGET, "the gateway let it spend no more"),
    "memory": (Outcome.CRASHED, "it used more memory than contained.memory_mb allows"),
    "disk": (Outcome.CRASHED, "it wrote more than contained.disk_mb allows"),
    "lost": (Outcome.INTERRUPTED, "its process is gone and left no word"),
}


def judge_exit(exit_: Exit) -> tuple[Outcome, str]:
    """What an end means about which the CLI itself has said nothing: an outcome and the reason for people.

    Exit code 0 without a word is a crash too: nothing shows that the work was finished.
    """
    if exit_.cause in _CAUSES:
        return _CAUSES[exit_.cause]
    number = exit_.signal or (exit_.code or 0) - 128
    if number in _ENDING_SIGNALS:
        return Outcome.INTERRUPTED, f"it was ended by {_ENDING_SIGNALS[number]}"
    if exit_.signal is not None:
        hint = " (out of memory?)" if exit_.signal == 9 else ""  # noqa: PLR2004  (SIGKILL, everywhere)
        return Outcome.CRASHED, f"it was ended by signal {exit_.signal}{hint}"
    told = next((line.strip() for line in reversed(exit_.stderr_tail.splitlines()) if line.strip()), "")
    ended = "without a result" if exit_.code == 0 else f"with exit code {exit_.code}"
    return Outcome.CRASHED, f"it ended {ended}" + (f": {told[:300]}" if told else "")


@dataclass(frozen=True, slots=True)
class Effort:
    """What the processes below an agent have done and are doing; the agent's own process does not count.

    Attributes:
        cpu_s: CPU seconds that they have used, those that have ended included.
        has_command: one of them lives that began after the agent last wrote something, as the command of a tool does.
    """

    cpu_s: float = 0.0
    has_command: bool = False


@dataclass(frozen=True, slots=True)
class Activity:
    """Something that a session did, in one line for people: `edit src/app.py`, `$ pytest -q`."""

    text: str
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class SessionReport:
    """What a finished session says of itself; the engine decides what it is worth.

    Attributes:
        outcome: COMPLETED when the CLI ended its turn in order (whether or not it claims completion); otherwise
            what went wrong: UNAVAILABLE, LIMITED, AUTH_FAILED, OVER_BUDGET, ASKED, CRASHED, NO_PROGRESS (turn limit),
            or what `judge_exit` says when the CLI left no word of its own.
        final_message: the agent's last message, whole.
        is_session_lost: the session that was to be resumed does not exist any more: start a fresh one.
        retry_at: when a limit resets, if the CLI said so.
        model: the model that worked, if the CLI said so.
        holds_past: whether `usage` may hold what earlier attempts in the session used, as far as that is not known.
    """

    outcome: Outcome
    final_message: str = ""
    reason: str = ""
    usage: Usage | None = None
    session: SessionId | None = None
    retry_at: datetime | None = None
    is_session_lost: bool = False
    model: str = ""
    holds_past: bool = False


@dataclass(frozen=True, slots=True)
class AgentFacts:
    """What an agent CLI can do.

    Attributes:
        remedy: the command that mends a missing login or installation.
        reports_usage: whether it says how many tokens a session used.
        reports_cost: whether a session's cost can be known; otherwise its reservation counts.
        is_free: whether a session never costs anything; then nothing is reserved for it.
        is_priced: whether the cost is worked out from tokens, by the price table, instead of being reported.
        reports_limits: whether a usage limit is told apart from other failures.
        bounds_turns: whether it keeps a limit of turns by itself.
        bounds_cost: whether it keeps a limit of cost by itself.
        has_safe_mode: whether it can be run with permission rules of its own.
        runs_plugins: whether code that the repository has for it runs, whatever it is told.
        is_person: it is no program: the work is handed over, and takes no slot.
    """

    name: str
    label: str
    can_resume: bool
    reports_usage: bool
    reports_cost: bool
    is_free: bool = False
    is_priced: bool = False
    reports_limits: bool = False
    bounds_turns: bool = False
    bounds_cost: bool = False
    has_safe_mode: bool = False
    runs_plugins: bool = False
    is_person: bool = False
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class AgentHealth:
    """What was found when looking for an agent CLI on this machine.

    Attributes:
        program: resolved path, empty when it is not installed.
        is_logged_in: None when it cannot be told without spending money.
    """

    program: str
    version: str = ""
    is_logged_in: bool | None = None
    problem: str = ""
    remedy: str = ""
