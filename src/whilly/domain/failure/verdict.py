"""What becomes of a change after its checks: it passes, it is repaired, or a person is asked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whilly.domain.attempt import Evidence


class FailureKind(StrEnum):
    """The taxonomy of failures; names are an API."""

    TEST_FAILED = "test_failed"
    BUILD_FAILED = "build_failed"
    LINT_FAILED = "lint_failed"
    TYPE_CHECK_FAILED = "type_check_failed"
    DEPENDENCY_MISSING = "dependency_missing"
    COMMAND_MISSING = "command_missing"
    TIMED_OUT = "timed_out"
    PROOF_MISSING = "proof_missing"
    TESTS_WEAKENED = "tests_weakened"
    PATH_REFUSED = "path_refused"
    CONFLICT = "conflict"
    NOTHING_CHANGED = "nothing_changed"
    UNKNOWN = "unknown"

    @property
    def is_repairable(self) -> bool:
        """Whether an agent can mend it in the workspace."""
        return self not in {FailureKind.COMMAND_MISSING, FailureKind.NOTHING_CHANGED}


_NOT_FOUND: Final = 127
_COMMANDS: Final = (
    (FailureKind.TYPE_CHECK_FAILED, r"\b(?:mypy|pyright|tsc|flow|sorbet|pyre)\b|\btype-?check\b"),
    (
        FailureKind.LINT_FAILED,
        r"\b(?:ruff|flake8|pylint|eslint|prettier|black|gofmt|golangci-lint|clippy|lint|fmt|format)\b",
    ),
    (
        FailureKind.TEST_FAILED,
        r"\b(?:pytest|unittest|tox|nox|jest|vitest|mocha|rspec|phpunit|ctest)\b|\btests?\b|\bcheck\b",
    ),
    (FailureKind.BUILD_FAILED, r"\b(?:build|compile|make|cmake|gradle|mvn|webpack|vite|install)\b"),
)
_PATTERNS: Final = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _COMMANDS)


def classify_failure(evidence: Evidence) -> FailureKind:
    """The kind of a failure that a command showed, by what its output says, then by the command."""
    hints = evidence.hints
    if evidence.exit_code == _NOT_FOUND or any(hint.startswith("command ") for hint in hints):
        return FailureKind.COMMAND_MISSING
    if any(hint.startswith(("missing module", "missing package")) for hint in hints) and evidence.remedy:
        return FailureKind.DEPENDENCY_MISSING
    if any(hint.startswith("failing test:") for hint in hints):
        return FailureKind.TEST_FAILED
    if evidence.command and evidence.exit_code is None:
        return FailureKind.TIMED_OUT
    return classify_command(evidence.command)


def classify_command(command: str) -> FailureKind:
    """The kind of failure that a command looks for, by its words."""
    return next((kind for kind, pattern in _PATTERNS if pattern.search(command)), FailureKind.UNKNOWN)


class Verdict(StrEnum):
    """What follows."""

    PASS = "pass"  # noqa: S105  (no password)
    REPAIR = "repair"
    ESCALATE = "escalate"


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that did not pass.

    Attributes:
        fingerprint: equal for the same failure.
    """

    kind: FailureKind
    summary: str
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is tried before a person is asked.

    Attributes:
        max_repairs: how many repairs there may be in all.
        max_lines: how many lines a change may have, added and removed; 0 is no limit.
        is_told: a person has said what to do, so that a change with nothing in it is worth another try.
    """

    max_repairs: int
    max_lines: int = 0
    is_told: bool = False


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict and its reason.

    Attributes:
        has_value: what is there may be worth showing, as a draft, although it is not finished.
    """

    verdict: Verdict
    reason: str
    has_value: bool = False


_WORTH_SHOWING: Final = frozenset({FailureKind.TEST_FAILED, FailureKind.LINT_FAILED, FailureKind.TYPE_CHECK_FAILED})


def give_verdict(failures: Sequence[Failure], earlier: Sequence[str], bounds: Bounds, lines: int) -> Ruling:
    """What becomes of a change.

    Args:
        failures: of this round; empty when everything passed.
        earlier: the fingerprints of the failures that were repaired already, the oldest first; an empty one counts as a
            repair only.
        bounds: how much is tried.
        lines: of the change, added and removed.
    """
    size = f"the change has {lines} lines, more than {bounds.max_lines}" if 0 < bounds.max_lines < lines else ""
    if not failures:
        verdict = Verdict.ESCALATE if size else Verdict.PASS
        return Ruling(verdict, size or "every check passed", has_value=True)
    first = failures[0]
    if obstacle := _find_obstacle(failures, earlier, bounds) or size:
        return Ruling(Verdict.ESCALATE, obstacle, has_value=all(each.kind in _WORTH_SHOWING for each in failures))
    return Ruling(Verdict.REPAIR, first.summary)


def _find_obstacle(failures: Sequence[Failure], earlier: Sequence[str], bounds: Bounds) -> str:
    for each in failures:
        is_begun_anew = bounds.is_told and each.kind is FailureKind.NOTHING_CHANGED
        if not each.kind.is_repairable and not is_begun_anew:
            return f"no repair mends this: {each.summary}"
        if each.fingerprint and each.fingerprint in earlier:
            return f"the same failure again: {each.summary}"
    if len(earlier) >= bounds.max_repairs:
        return f"{len(earlier)} {'repair' if len(earlier) == 1 else 'repairs'} did not mend it: {failures[0].summary}"
    return ""
