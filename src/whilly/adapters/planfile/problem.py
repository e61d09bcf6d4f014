"""What is wrong with a plan file, where, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from typing_extensions import override


class Severity(StrEnum):
    """Whether a problem stops the plan."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to be said about a plan file.

    Attributes:
        file: relative to the repository where it lies in it.
        line: from 1; 0 when the file as a whole is meant.
        column: in characters, from 1; 0 when the file as a whole is meant.
        what: what is wrong.
        why: why that matters, or the rule that it breaks.
        remedy: what to do about it.
    """

    file: str
    line: int
    column: int
    what: str
    why: str
    remedy: str
    severity: Severity = Severity.ERROR

    @property
    def is_error(self) -> bool:
        """Whether the plan cannot be run."""
        return self.severity is Severity.ERROR

    @override
    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.severity.value}: {self.what}: {self.why} → {self.remedy}"
