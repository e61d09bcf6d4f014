"""What follows from a look at a change, and how all looks are kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from whilly.domain.delivery.proof import Missing
from whilly.domain.delivery.pull_request_text import Checked
from whilly.domain.delivery.round import Round, describe_rounds, judge_round, parse_rounds
from whilly.domain.failure.verdict import Bounds, Failure, FailureKind, Ruling, Verdict
from whilly.domain.ids import AttemptId, CommitId
from whilly.domain.intake.strategy import Proof

if TYPE_CHECKING:
    from collections.abc import Sequence

BOUNDS = Bounds(2, 100)
RED = [Failure(FailureKind.TEST_FAILED, f"test {number}", f"f{number}") for number in range(5)]
LACK = Missing(Proof.FAILS_BEFORE, "no test fails before")
OTHER = Missing(Proof.OLD_TESTS_PASS, "an old test fails", is_weakened=True)


def rounds(*found: Failure | Verdict) -> list[Round]:
    """Earlier rounds: a failure that was to be repaired, or another verdict."""
    made = []
    for number, each in enumerate(found):
        failures = (each,) if isinstance(each, Failure) else ()
        verdict = each if isinstance(each, Verdict) else Verdict.REPAIR
        made.append(Round(AttemptId(f"r/{number}"), CommitId("c"), Ruling(verdict, "so"), failures))
    return made


@pytest.mark.parametrize(
    ("failures", "missing", "earlier", "verdict", "because"),
    [
        ([], [], [], Verdict.PASS, []),
        ([], [LACK], [], Verdict.REPAIR, [LACK.failure]),
        ([], [LACK], [LACK.failure], Verdict.PASS, []),
        ([], [LACK], [LACK.failure, Verdict.PASS], Verdict.PASS, []),
        ([], [LACK, OTHER], [LACK.failure], Verdict.REPAIR, [OTHER.failure]),
        ([], [LACK], [RED[0], RED[1]], Verdict.REPAIR, [LACK.failure]),
        ([RED[0]], [], [], Verdict.REPAIR, [RED[0]]),
        ([RED[0]], [], [RED[0]], Verdict.ESCALATE, [RED[0]]),
        ([RED[2]], [], [RED[0], RED[1]], Verdict.ESCALATE, [RED[2]]),
        ([RED[2]], [], [RED[0], LACK.failure], Verdict.REPAIR, [RED[2]]),
        ([RED[0]], [], [RED[0], Verdict.PASS], Verdict.REPAIR, [RED[0]]),
        ([RED[0]], [], [RED[0], Verdict.ESCALATE], Verdict.REPAIR, [RED[0]]),
    ],
)
def test_what_follows(
    failures: Sequence[Failure],
    missing: Sequence[Missing],
    earlier: Sequence[Failure | Verdict],
    verdict: Verdict,
    because: list[Failure],
) -> None:
    ruling, counted = judge_round(failures, missing, rounds(*earlier), BOUNDS, 10)
    assert (ruling.verdict, list(counted)) == (verdict, because)


def test_a_change_that_is_too_large_is_asked_for_nothing() -> None:
    ruling, counted = judge_round([], [LACK], [], BOUNDS, 101)
    assert (ruling.verdict, ruling.has_value, counted) == (Verdict.ESCALATE, True, ())


def test_rounds_are_kept_as_they_were() -> None:
    known = Round(
        AttemptId("r-1/7"),
        CommitId("c" * 40),
        Ruling(Verdict.ESCALATE, "twice", has_value=True),
        (RED[0],),
        ((Proof.OLD_TESTS_PASS, "they pass"),),
        (LACK,),
        (Checked("pytest", has_passed=False, output="E\n"), Checked("make", has_passed=None)),
        12,
        CommitId("b" * 40),
    )
    kept = json.loads(json.dumps(describe_rounds([known, *rounds(Verdict.PASS)])))
    assert parse_rounds(kept) == (known, *rounds(Verdict.PASS))
    assert (kept["version"], kept["verdict"]) == (1, "pass")
    assert (known.is_known_to_fail, rounds(RED[0])[0].is_known_to_fail) == (True, False)
    assert parse_rounds({}) == ()


@pytest.mark.parametrize(
    "damage",
    [
        {"verdict": "perhaps"},
        {"checks": [{"command": "x", "result": "failed", "output": 5}]},
        {"failures": [{"kind": "unknown", "summary": None, "fingerprint": ""}]},
        {"proofs": []},
        {"lines": "many"},
        {"reason": []},
        {"base": 5},
    ],
)
def test_a_damaged_verdict_counts_as_no_rounds(damage: dict[str, object]) -> None:
    (whole,) = json.loads(json.dumps(describe_rounds(rounds(RED[0]))))["rounds"]
    assert list(parse_rounds({"rounds": [whole]})) == rounds(RED[0])
    for rotten in ([whole, {**whole, **damage}], [whole, {}], [whole, "x"], 5):
        assert parse_rounds({"rounds": rotten}) == ()
