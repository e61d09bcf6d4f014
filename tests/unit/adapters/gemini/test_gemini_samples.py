"""The reader over everything that Gemini CLI 0.61.0 wrote in the cases that matter."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest

from whilly.adapters import agents
from whilly.adapters.command.descriptor import load_descriptor
from whilly.adapters.gemini.reader import GeminiSessionReader
from whilly.domain.attempt import Outcome, Usage
from whilly.domain.session import Exit, SessionReport, claims_completion

SAMPLES = Path(__file__).parents[3] / "data" / "agents" / "gemini"
DESCRIPTOR = load_descriptor(Path(agents.__file__).parent / "gemini" / "agent.toml")
LOGIN = " → run `gemini` and log in, or set GEMINI_API_KEY"


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
OK = Usage(None, 3000, 150, turns=3)
FREE = Usage(Decimal(0))
BUSY = "[API Error: Resource has been exhausted (e.g. check quota).]"
QUOTA = "[API Error: You have exhausted your daily quota on this model.]"
KILLED = Exit(None, 9, "time_limit")
LIMIT_PASSED = "its time limit passed"
CASES = [
    *(
        Case(name, Exit(0), DONE, "", OK, claims=True)
        for name in (
            *("ok", "429-once", "perm-autoedit", "perm-default", "resume-1", "session-id"),
            *("stdin-closed", "stdin-openpipe", "stdin-prompt"),
        )
    ),
    Case("resume-latest", Exit(0), DONE, "", Usage(None, 1000, 50, turns=1), claims=True),
    Case("never", Exit(0), Outcome.NO_PROGRESS, "Loop detected, stopping execution", Usage(None, 4000, 200, turns=4)),
    Case("maxturns", Exit(53), Outcome.NO_PROGRESS, "Reached max session turns", Usage(None, 3000, 150, turns=3)),
    Case("401", Exit(145), Outcome.AUTH_FAILED, '[API Error: {"error":{"code":401,', FREE),
    Case("400key", Exit(144), Outcome.AUTH_FAILED, '[API Error: {"error":{"code":400,"message":"API key not', FREE),
    Case("429-max2", Exit(173), Outcome.LIMITED, BUSY, FREE),
    Case("quota-day", Exit(173), Outcome.LIMITED, QUOTA, FREE),
    Case("429-forever", KILLED, Outcome.TIMED_OUT, LIMIT_PASSED),
    Case("503", KILLED, Outcome.TIMED_OUT, LIMIT_PASSED),
    Case("529", KILLED, Outcome.TIMED_OUT, LIMIT_PASSED),
    Case("hang", KILLED, Outcome.TIMED_OUT, LIMIT_PASSED),
    # It takes a signal for a wish to end, and ends well.
    Case("sig-int", Exit(0), Outcome.CRASHED, "it ended without a result"),
    Case("sig-killpg-term", Exit(0, None, "stopped"), Outcome.INTERRUPTED, "it was stopped"),
    Case("sig-kill", Exit(None, 9), Outcome.CRASHED, "it was ended by signal 9"),
    Case("sig-killpg-kill", Exit(None, 9, "stopped"), Outcome.INTERRUPTED, "it was stopped"),
]


def read(sample: str, exit_: Exit) -> SessionReport:
    reader = GeminiSessionReader(DESCRIPTOR)
    for line in (SAMPLES / f"{sample}.jsonl").read_bytes().splitlines():
        reader.feed(line)
    return reader.report(exit_)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.sample)
def test_a_sample_is_read_as_what_it_was(case: Case) -> None:
    report = read(case.sample, case.exit_)
    assert report.outcome == case.outcome
    assert report.reason.startswith(f"Gemini CLI: {case.reason}" if case.reason else "")
    assert bool(report.reason) == bool(case.reason)
    assert report.reason.endswith(LOGIN) == (case.outcome is Outcome.AUTH_FAILED)
    assert report.usage == case.usage
    assert claims_completion(report.final_message) == case.claims
    assert (report.session is not None, report.model) == (True, "gemini-2.5-pro")


def test_every_sample_is_read() -> None:
    assert {path.stem for path in SAMPLES.glob("*.jsonl")} == {case.sample for case in CASES}


@pytest.mark.parametrize(
    ("exit_", "outcome", "is_lost"),
    [
        (Exit(41, stderr_tail="you must specify the GEMINI_API_KEY"), Outcome.AUTH_FAILED, False),
        (Exit(42, stderr_tail="Error resuming session: No previous sessions found."), Outcome.CRASHED, True),
        (Exit(42, stderr_tail="Unknown arguments: x"), Outcome.CRASHED, False),
    ],
)
def test_an_end_before_the_first_line_is_told_by_its_code(exit_: Exit, outcome: Outcome, *, is_lost: bool) -> None:
    report = GeminiSessionReader(DESCRIPTOR).report(exit_)
    assert (report.outcome, report.is_session_lost) == (outcome, is_lost)
    assert exit_.stderr_tail in report.reason
