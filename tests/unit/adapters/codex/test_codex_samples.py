"""The reader over everything that Codex 0.171.0 wrote in the cases that matter."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from whilly.adapters import agents
from whilly.adapters.codex.reader import CodexSessionReader
from whilly.adapters.command.descriptor import load_descriptor
from whilly.domain.attempt import Outcome, Usage
from whilly.domain.ids import SessionId
from whilly.domain.session import Exit, Prior, SessionReport, claims_completion

SAMPLES = Path(__file__).parents[3] / "data" / "agents" / "codex"
DESCRIPTOR = load_descriptor(Path(agents.__file__).parent / "codex" / "agent.toml")
LOGIN = " → run `codex login`, or set CODEX_API_KEY"
BEGAN = datetime(2026, 11, 30, 21, 20).astimezone()
THREAD = SessionId("01a22e58-544a-7072-8c41-9f316a36e514")


@dataclass(frozen=True)
class Case:
    sample: str
    exit_: Exit
    outcome: Outcome
    reason: str = ""
    usage: Usage | None = None
    claims: bool = False


DONE = Outcome.COMPLETED
LATER = Outcome.UNAVAILABLE
ENDED = Outcome.INTERRUPTED
OK = Usage(None, 3000, 150, turns=1)
FREE = Usage(Decimal(0))
BUSY = "We’re currently experiencing high demand, which may cause temporary errors."
CASES = [
    *(
        Case(name, Exit(0), DONE, "", OK, claims=True)
        for name in ("ok", "429-once", "last-message", "native", "sandbox-ro", "sandbox-ww", "stdin-closed")
    ),
    Case("stdin-prompt", Exit(0), DONE, "", OK, claims=True),
    Case("401", Exit(1), Outcome.AUTH_FAILED, "the provider refuses the login" + LOGIN, FREE),
    Case("noauth", Exit(1), Outcome.AUTH_FAILED, "Missing environment variable: `FAKE_API_KEY`." + LOGIN, FREE),
    Case("quota", Exit(1), Outcome.AUTH_FAILED, "Quota exceeded. Check your plan and billing details." + LOGIN, FREE),
    Case("400", Exit(1), Outcome.CRASHED, '{"error":{"message":"bad request"', FREE),
    Case("429-forever", Exit(1), Outcome.LIMITED, "exceeded retry limit, last status: 429 Too Many Requests", FREE),
    Case("500", Exit(1), LATER, BUSY, FREE),
    Case("stall", Exit(1), LATER, "stream disconnected before completion: idle timeout waiting for SSE", FREE),
    Case("usage-limit", Exit(1), Outcome.LIMITED, "You’ve hit your usage limit. Upgrade to Pro", FREE),
    Case("hang", Exit(None, 9, "time_limit"), Outcome.TIMED_OUT, "its time limit passed"),
    Case("never", Exit(None, 15, "stopped"), ENDED, "it was stopped"),
    Case(
        "sig-int", Exit(1, stderr_tail="ERROR: thread not found"), Outcome.CRASHED, "it ended with exit code 1: ERROR"
    ),
    Case("sig-kill", Exit(None, 9), Outcome.CRASHED, "it was ended by signal 9"),
    Case("sig-killpg-kill", Exit(None, 9, "stopped"), ENDED, "it was stopped"),
    Case("sig-killpg-term", Exit(None, 15), ENDED, "it was ended by SIGTERM"),
    Case("sig-term", Exit(None, 15), ENDED, "it was ended by SIGTERM"),
]


def read(sample: str, exit_: Exit, prior: Prior | None = None) -> SessionReport:
    reader = CodexSessionReader(DESCRIPTOR, prior or Prior(began_at=BEGAN))
    for line in (SAMPLES / f"{sample}.jsonl").read_bytes().splitlines():
        reader.feed(line)
    return reader.report(exit_)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.sample)
def test_a_sample_is_read_as_what_it_was(case: Case) -> None:
    report = read(case.sample, case.exit_)
    assert report.outcome == case.outcome
    assert report.reason.startswith(f"Codex: {case.reason}" if case.reason else "")
    assert bool(report.reason) == bool(case.reason)
    assert report.usage == case.usage
    assert claims_completion(report.final_message) == case.claims
    assert report.session is not None


def test_every_sample_is_read() -> None:
    assert {path.stem for path in SAMPLES.glob("*.jsonl")} == {case.sample for case in CASES} | {"resume-2"}


def test_what_a_thread_used_before_is_not_booked_again() -> None:
    report = read("resume-2", Exit(0), Prior(session=THREAD, booked=Usage(None, 3000, 150)))
    assert report.usage == Usage(None, 1000, 50, turns=1)


@pytest.mark.parametrize(
    "prior",
    [
        pytest.param(Prior(), id="a new session"),
        pytest.param(Prior(session=SessionId("another"), booked=Usage(None, 3000, 150)), id="another session"),
        pytest.param(Prior(session=THREAD, booked=Usage(None, 9000, 150)), id="more than the thread has"),
    ],
)
def test_totals_without_a_past_are_booked_whole(prior: Prior) -> None:
    assert read("resume-2", Exit(0), prior).usage == Usage(None, 4000, 200, turns=1)


def test_a_thread_that_does_not_exist_is_lost() -> None:
    words = "Error: thread/resume: thread/resume failed: no rollout found for thread id 00000000 (code -32600)"
    report = CodexSessionReader(DESCRIPTOR, Prior()).report(Exit(1, stderr_tail=words))
    assert (report.outcome, report.is_session_lost, report.usage) == (Outcome.CRASHED, True, FREE)
    assert words in report.reason


def test_a_limit_ends_at_the_next_such_time() -> None:
    assert read("usage-limit", Exit(1)).retry_at == BEGAN.replace(hour=22, minute=20)


def test_only_a_completed_turn_that_ended_well_is_a_completion() -> None:
    for exit_ in (Exit(1), Exit(None, 9), Exit(0, None, "stopped")):
        assert read("ok", exit_).outcome is not DONE
