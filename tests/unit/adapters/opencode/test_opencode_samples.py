"""The reader over everything that OpenCode 1.18.33 wrote in the cases that matter."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from whilly.adapters import agents
from whilly.adapters.command.descriptor import load_descriptor
from whilly.adapters.opencode.reader import OpencodeSessionReader
from whilly.domain.attempt import Outcome, Usage
from whilly.domain.session import Exit, SessionReport, claims_completion

SAMPLES = Path(__file__).parents[3] / "data" / "agents" / "opencode"
DESCRIPTOR = load_descriptor(Path(agents.__file__).parent / "opencode" / "agent.toml")
LOGIN = " → run `opencode auth login`, or set the provider's key"


@dataclass(frozen=True)
class Case:
    sample: str
    exit_: Exit
    outcome: Outcome
    reason: str = ""
    usage: Usage | None = None
    retry_at: datetime | None = None
    claims: bool = False


DONE = Outcome.COMPLETED
OK = Usage(Decimal("0.01125"), 3000, 150, turns=3)
FREE = Usage(Decimal(0))
OPEN = Usage(None)
KILLED = Exit(None, 9, "time_limit")
CASES = [
    *(
        Case(name, Exit(0), DONE, "", OK, claims=True)
        for name in ("ok", "429-once", "perm-auto", "perm-deny", "resume-1", "stdin-closed")
    ),
    Case("resume-2", Exit(0), DONE, "", Usage(Decimal("0.00375"), 1000, 50, turns=1), claims=True),
    Case(
        "perm-ask",
        Exit(0),
        Outcome.ASKED,
        "it asked for permission: write /lab/repo/hello.txt",
        Usage(Decimal("0.00375"), 1000, 50, turns=1),
    ),
    Case("401", Exit(1), Outcome.AUTH_FAILED, "Incorrect API key provided: test-key." + LOGIN, FREE),
    Case(
        "429-forever",
        Exit(1),
        Outcome.LIMITED,
        "Rate limit reached",
        FREE,
        datetime.fromtimestamp(1796073729.933, UTC),
    ),
    Case("sig-int", KILLED, Outcome.TIMED_OUT, "its time limit passed", OPEN),
    Case("sig-kill", Exit(None, 9), Outcome.CRASHED, "it was ended by signal 9", OPEN),
    Case("sig-killpg-kill", Exit(None, 9, "stopped"), Outcome.INTERRUPTED, "it was stopped", OPEN),
    Case("sig-killpg-term", Exit(None, 15), Outcome.INTERRUPTED, "it was ended by SIGTERM", OPEN),
    Case("sig-term", Exit(None, 15), Outcome.INTERRUPTED, "it was ended by SIGTERM", OPEN),
]


def read(sample: str, exit_: Exit) -> SessionReport:
    reader = OpencodeSessionReader(DESCRIPTOR)
    for line in (SAMPLES / f"{sample}.jsonl").read_bytes().splitlines():
        reader.feed(line)
    return reader.report(exit_)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.sample)
def test_a_sample_is_read_as_what_it_was(case: Case) -> None:
    report = read(case.sample, case.exit_)
    assert report.outcome == case.outcome
    assert report.reason.startswith(f"OpenCode: {case.reason}" if case.reason else "")
    assert bool(report.reason) == bool(case.reason)
    assert (report.usage, report.retry_at) == (case.usage, case.retry_at)
    assert claims_completion(report.final_message) == case.claims
    assert report.session is not None


@pytest.mark.parametrize("sample", ["never", "steps"])
def test_a_session_without_end_is_ended_and_its_cost_is_what_its_steps_cost(sample: str) -> None:
    report = read(sample, KILLED)
    assert report.outcome is Outcome.TIMED_OUT
    assert report.usage is not None
    assert report.usage.input_tokens == 1000 * report.usage.turns > 0


def test_every_sample_is_read() -> None:
    assert {path.stem for path in SAMPLES.glob("*.jsonl")} == {case.sample for case in CASES} | {"never", "steps"}


def test_a_session_that_does_not_exist_is_lost() -> None:
    report = OpencodeSessionReader(DESCRIPTOR).report(Exit(1, stderr_tail="Error: Session not found"))
    assert (report.outcome, report.is_session_lost, report.usage) == (Outcome.CRASHED, True, FREE)
