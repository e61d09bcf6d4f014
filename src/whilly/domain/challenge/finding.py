"""What can be said against a piece of work, and what it comes to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

RULES: Final = "rules"
MODEL: Final = "model"
"""Who finds something."""


class Severity(StrEnum):
    """How much it matters; the order of the members is the order of telling."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """0 is the gravest."""
        return list(Severity).index(self)


class Kind(StrEnum):
    """What is wrong; names are an API."""

    PHYSICAL_CONTRADICTION = "physical_contradiction"
    TECHNICAL_CONTRADICTION = "technical_contradiction"
    MISSING_DEPENDENCY = "missing_dependency"
    FALSE_DEPENDENCY = "false_dependency"
    DUPLICATE = "duplicate"
    MERGEABLE = "mergeable"
    REMOVABLE = "removable"
    UNCHECKED = "unchecked"
    TOO_LARGE = "too_large"
    OVER_ENGINEERING = "over_engineering"
    MISSING_RISK = "missing_risk"
    SCOPE_CREEP = "scope_creep"


@dataclass(frozen=True, slots=True)
class Objection:
    """One thing that speaks against it.

    Attributes:
        pieces: ids of what it is about.
        advice: what to do about it.
        principles: numbers of those that help.
        found_by: `rules` or `model`.
    """

    kind: Kind
    severity: Severity
    pieces: tuple[str, ...]
    text: str
    advice: str
    principles: tuple[int, ...] = ()
    found_by: str = RULES


class Verdict(StrEnum):
    """What follows for the work."""

    APPROVE = "approve"
    REVISE = "revise"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class Review:
    """Everything that was found, the gravest first.

    Attributes:
        ideality: the share of the work that gives something that can be checked and that nothing else gives.
        reason: for the verdict.
    """

    objections: tuple[Objection, ...]
    ideality: float
    verdict: Verdict
    reason: str
