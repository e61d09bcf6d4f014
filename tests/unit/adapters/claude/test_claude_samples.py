"""The reader over everything that Claude Code 2.1.332 wrote in the cases that matter."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from whilly.adapters import agents
from whilly.adapters.claude.reader import ClaudeSessionReader
from whilly.adapters.command.descriptor import load_descriptor
from whilly.domain.attempt import Outcome, Usage
from whilly.domain.session import Exit, SessionReport, claims_completion

SAMPLES = Path(__file__).parents[3] / "data" / "agents" / "claude"
DESCRIPTOR = load_descriptor(Path(agents.__file__).parent / "claude" / "agent.toml")
LOGIN = " → run `claude` and type /login, or set ANTHROPIC_API_KEY"


@dataclass(frozen=True)
class Case:
    sample: str
    exit_: Exit
    outcome: Outcome
    reason: str = ""
    cost: str | None = "0"
    tokens: tuple[int, int] = (0, 0)
    turns: int = 1
    retry_at: datetime | None = None
    claims: bool = False


OK = ("0.01125", (3000, 150), 3)
NONE = (None, (0, 0), 0)
DONE = Outcome.COMPLETED
LATER = Outcome.UNAVAILABLE
ENDED = Outcome.INTERRUPTED
CASES = [
    *(
        Case(name, Exit(0), DONE, "", *OK, claims=True)
        for name in (
            *("ok", "ok-json", "ok-partial", "oauth-ok", "429-once", "input-streamjson", "resume-1", "session-id"),
            *("stdin-closed", "stdin-openpipe", "stdin-prompt"),
        )
    ),
    Case("resume-2", Exit(0), DONE, "", "0.00375", (1000, 50), 1, claims=True),
    Case("resume-fork", Exit(0), DONE, "", "0.00375", (1000, 50), 1, claims=True),
    Case("resume-term-2", Exit(0), DONE, "", "0", (0, 0), 1),
    Case("schema", Exit(0), DONE, "", "0.00375", (1000, 50), 2),
    Case("400", Exit(1), Outcome.AUTH_FAILED, "Credit balance is too low" + LOGIN),
    Case("401", Exit(None, 9, "stopped"), Outcome.AUTH_FAILED, "the provider refuses the login" + LOGIN, turns=0),
    Case("401-retries0", Exit(1), Outcome.AUTH_FAILED, "Invalid API key · Fix external API key" + LOGIN),
    Case("noauth", Exit(1), Outcome.AUTH_FAILED, "Not logged in · Please run /login" + LOGIN),
    Case("404model", Exit(1), Outcome.CRASHED, "There's an issue with the selected model (claude-sonnet-4-5)."),
    Case("429-longretry", Exit(1), Outcome.LIMITED, "API Error: Request rejected (429) · This request would exceed"),
    Case("429-unified", Exit(1), Outcome.LIMITED, "API Error: Request rejected (429) · This request would exceed"),
    Case("429-retries2", Exit(1), Outcome.LIMITED, "API Error: Request rejected (429) · This request would exceed"),
    Case("500-retries1", Exit(1), LATER, "API Error: 500 Internal server error."),
    Case("hang-noresponse", Exit(1), LATER, "Request timed out."),
    Case("refused", Exit(1), LATER, "API Error: "),
    Case("stall-watchdog", Exit(1), LATER, "API Error: stream idle: no bytes for 10000ms", "0.000018", (1, 1)),
    Case(
        "oauth-usage-limit",
        Exit(1),
        Outcome.LIMITED,
        "You've hit your limit · resets 10:07pm (UTC)",
        retry_at=datetime.fromtimestamp(1796076425, UTC),
    ),
    Case(
        "maxturns",
        Exit(1),
        Outcome.NO_PROGRESS,
        "Reached maximum number of turns (3)",
        "0.945",
        (300_000, 3_000),
        4,
    ),
    Case(
        "resume-bad",
        Exit(1),
        Outcome.CRASHED,
        "No conversation found with session ID: 00000000-0000-4000-8000-000000000000",
        turns=0,
    ),
    Case("resume-term-1", Exit(143), ENDED, "it was ended by SIGTERM", None, (1000, 50), 1),
    Case("sig-api-int", Exit(0), Outcome.CRASHED, "it ended without a result", *NONE),
    Case("sig-api-term", Exit(143), ENDED, "it was ended by SIGTERM", *NONE),
    Case("sig-tool-hup", Exit(129), ENDED, "it was ended by SIGHUP", None, (1000, 50), 1),
    Case("sig-tool-kill", Exit(None, 9), Outcome.CRASHED, "it was ended by signal 9", None, (1000, 50), 1),
    Case("sig-tool-killpg-kill", Exit(None, 9, "stopped"), ENDED, "it was stopped", None, (1000, 50), 1),
    Case("sig-tool-killpg-term", Exit(143, None, "stopped"), ENDED, "it was stopped", None, (1000, 50), 1),
    Case("sig-tool-term", Exit(143), ENDED, "it was ended by SIGTERM", None, (1000, 50), 1),
    Case("stall-midstream", Exit(None, 9, "time_limit"), Outcome.TIMED_OUT, "its time limit passed", *NONE),
    Case("stall-midstream-default", Exit(None, None, "lost"), ENDED, "its process is gone and left no word", *NONE),
]


def read(sample: str, exit_: Exit) -> SessionReport:
    reader = ClaudeSessionReader(DESCRIPTOR)
    for line in (SAMPLES / f"{sample}.jsonl").read_bytes().splitlines():
        reader.feed(line)
    return reader.report(exit_)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.sample)
def test_a_sample_is_read_as_what_it_was(case: Case) -> None:
    report = read(case.sample, case.exit_)
    assert report.outcome == case.outcome
    assert report.reason.startswith(f"Claude Code: {case.reason}" if case.reason else "")
    assert bool(report.reason) == bool(case.reason)
    assert report.usage == Usage(
        cost_usd=None if case.cost is None else Decimal(case.cost),
        input_tokens=case.tokens[0],
        output_tokens=case.tokens[1],
        turns=case.turns,
    )
    assert claims_completion(report.final_message) == case.claims
    if case.retry_at:
        assert report.retry_at == case.retry_at


def test_every_sample_has_its_case() -> None:
    assert sorted(path.stem for path in SAMPLES.glob("*.jsonl")) == sorted(case.sample for case in CASES)


def test_only_a_session_that_does_not_exist_any_more_is_lost() -> None:
    lost = {case.sample for case in CASES if read(case.sample, case.exit_).is_session_lost}
    assert lost == {"resume-bad"}
    assert read("resume-bad", Exit(1)).session is None


def test_a_resumed_session_keeps_its_name() -> None:
    first, second = read("resume-1", Exit(0)), read("resume-2", Exit(0))
    assert first.session == second.session == "6420396e-71ec-45d4-b1b9-68b5e76a0f29"


def test_output_that_never_came_is_told_with_the_last_words_of_standard_error() -> None:
    words = "Error: Session ID 11111111-1111-4111-8111-111111111111 is already in use.\n"
    report = ClaudeSessionReader(DESCRIPTOR).report(Exit(1, stderr_tail=words))
    assert report.outcome is Outcome.CRASHED
    assert report.reason == f"Claude Code: it ended with exit code 1: {words.strip()}"
    assert report.usage == Usage(cost_usd=None)


def test_a_passing_refusal_says_when_to_come_back() -> None:
    report = read("429-retries2", Exit(1))
    assert report.retry_at is not None
    assert report.retry_at.year == 2026


def test_plain_text_output_is_no_result() -> None:
    reader = ClaudeSessionReader(DESCRIPTOR)
    for line in (SAMPLES / "ok-text.txt").read_bytes().splitlines():
        assert not reader.feed(line)
    assert reader.report(Exit(0)).outcome is Outcome.CRASHED
