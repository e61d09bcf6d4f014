"""A failed change is repaired while that makes sense, and then a person is asked."""

from __future__ import annotations

import pytest

from whilly.domain.attempt import Evidence
from whilly.domain.failure import read_failure
from whilly.domain.failure.verdict import Bounds, Failure, FailureKind, Verdict, classify_failure, give_verdict

BOUNDS = Bounds(max_repairs=2, max_lines=100)
RED = Failure(FailureKind.TEST_FAILED, "test_a failed", "f1")


@pytest.mark.parametrize(
    ("failures", "earlier", "lines", "verdict", "has_value"),
    [
        ([], [], 10, Verdict.PASS, True),
        ([], [], 101, Verdict.ESCALATE, True),
        ([RED], [], 10, Verdict.REPAIR, False),
        ([RED], ["other"], 10, Verdict.REPAIR, False),
        ([RED], ["f1"], 10, Verdict.ESCALATE, True),
        ([RED], ["a", "b"], 10, Verdict.ESCALATE, True),
        ([RED], [], 101, Verdict.ESCALATE, True),
        ([Failure(FailureKind.COMMAND_MISSING, "no make")], [], 10, Verdict.ESCALATE, False),
        ([RED, Failure(FailureKind.NOTHING_CHANGED, "nothing")], [], 0, Verdict.ESCALATE, False),
        ([Failure(FailureKind.UNKNOWN, "odd")], [""], 10, Verdict.REPAIR, False),
    ],
)
def test_a_verdict_is_given(
    failures: list[Failure], earlier: list[str], lines: int, verdict: Verdict, *, has_value: bool
) -> None:
    ruling = give_verdict(failures, earlier, BOUNDS, lines)
    assert (ruling.verdict, ruling.has_value) == (verdict, has_value)
    assert ruling.reason


@pytest.mark.parametrize(
    ("command", "exit_code", "output", "kind"),
    [
        ("pytest -q", 1, "FAILED tests/test_a.py::test_b - assert 1 == 2\n", FailureKind.TEST_FAILED),
        ("make all", 1, "FAILED tests/test_a.py::test_b - assert 1 == 2\n", FailureKind.TEST_FAILED),
        ("make test", 1, "no output that is known", FailureKind.TEST_FAILED),
        ("ruff check .", 1, "a.py:1:1: F401", FailureKind.LINT_FAILED),
        ("npm run lint", 1, "", FailureKind.LINT_FAILED),
        ("mypy src", 1, "a.py:1: error: x", FailureKind.TYPE_CHECK_FAILED),
        ("cargo build", 101, "", FailureKind.BUILD_FAILED),
        ("pytest", 127, "sh: 1: pytest: not found", FailureKind.COMMAND_MISSING),
        ("pytest", None, "", FailureKind.TIMED_OUT),
        ("./go", 1, "", FailureKind.UNKNOWN),
    ],
)
def test_a_failure_has_a_kind(command: str, exit_code: int | None, output: str, kind: FailureKind) -> None:
    assert classify_failure(read_failure(command, exit_code, output)) is kind


def test_a_missing_dependency_is_one_when_the_profile_can_bring_it() -> None:
    output = "ModuleNotFoundError: No module named 'requests'\n"
    evidence = read_failure("pytest", 1, output, setup="pip install -e .")
    assert classify_failure(evidence) is FailureKind.DEPENDENCY_MISSING
    assert classify_failure(Evidence("x", "pytest", 1)) is FailureKind.TEST_FAILED
