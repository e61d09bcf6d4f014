"""What the doctor says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Severity(StrEnum):
    """Whether something has to be done about a finding."""

    PROBLEM = "problem"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or worth knowing.

    Attributes:
        code: which kind it is; see `catalogue`. Codes are an API.
        what: what was found, in one line.
        why: why that matters.
        remedy: the command or the instruction that mends it.
        subject: the thing that it is about: a path, a name, a key; empty when there is only one.
        is_mendable: whether `--fix` mends it.
    """

    code: str
    severity: Severity
    what: str
    why: str
    remedy: str
    subject: str = ""
    is_mendable: bool = False

    @property
    def is_problem(self) -> bool:
        """Whether the exit code is to say it."""
        return self.severity is Severity.PROBLEM


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is as it should be, for the head of the report.

    Attributes:
        name: `python`, `agent.claude`.
    """

    name: str
    text: str


Said: TypeAlias = Finding | Fact


@dataclass(frozen=True, slots=True)
class Report:
    """All that was said, in the order of the checks."""

    facts: tuple[Fact, ...]
    findings: tuple[Finding, ...]

    @property
    def problems(self) -> int:
        """How many findings are problems."""
        return sum(finding.is_problem for finding in self.findings)

    def mendable(self) -> tuple[Finding, ...]:
        """The findings that `--fix` mends."""
        return tuple(finding for finding in self.findings if finding.is_mendable)
