"""Whether an issue can be begun: rules first, which cost nothing and give the same answer for the same issue."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from whilly.domain.intake.rules import RULES, Finding
from whilly.domain.text.neutralize import neutralize

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whilly.domain.intake.rules import Scope
    from whilly.domain.intake.spec import IssueSpec

VERSION: Final = 1
"""Of the form of `readiness.json`."""

LOW_CONFIDENCE: Final = 0.6
"""Below it, a pull request is opened as a draft."""

_COST_OF_ASSUMING: Final = 0.1
_LEAST: Final = 0.1


class Readiness(StrEnum):
    """What follows for the run."""

    READY = "ready"
    READY_WITH_ASSUMPTIONS = "ready_with_assumptions"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether it can be begun, and why.

    Attributes:
        confidence: from 0 to 1; each assumption takes from it, and so does not knowing what kind of work it is.
    """

    state: Readiness
    confidence: float
    findings: tuple[Finding, ...] = ()

    @property
    def missing_information(self) -> tuple[str, ...]:
        """What somebody has to tell before it can be begun."""
        return tuple(each.text for each in self.findings if each.blocks)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is taken for granted, because the issue does not say it."""
        return tuple(each.text for each in self.findings if not each.blocks)

    @property
    def is_sure(self) -> bool:
        """Whether what comes of it may be offered as finished."""
        return self.state is not Readiness.BLOCKED and self.confidence >= LOW_CONFIDENCE


def judge(spec: IssueSpec, scope: Scope) -> Judgement:
    """The rules' judgement of an issue.

    Args:
        spec: the issue.
        scope: what the repository allows.
    """
    return weigh(spec, [finding for rule in RULES for finding in rule(spec, scope)])


def weigh(spec: IssueSpec, findings: Iterable[Finding]) -> Judgement:
    """What findings come to, whoever made them."""
    found = tuple(dict.fromkeys(findings))
    assumed = sum(not each.blocks for each in found)
    confidence = max(_LEAST, round(1 - _COST_OF_ASSUMING * assumed - 0.3 * (1 - spec.confidence), 2))
    if any(each.blocks for each in found):
        return Judgement(Readiness.BLOCKED, confidence, found)
    return Judgement(Readiness.READY_WITH_ASSUMPTIONS if assumed else Readiness.READY, confidence, found)


def describe_readiness(judgement: Judgement) -> dict[str, Any]:
    """`readiness.json`."""
    return {
        "version": VERSION,
        "state": judgement.state,
        "confidence": judgement.confidence,
        "missing_information": list(judgement.missing_information),
        "assumptions": list(judgement.assumptions),
        "rules": [each.rule for each in judgement.findings],
    }


def ask(judgement: Judgement) -> str:
    """The comment that asks for what is missing; harmless, whatever the issue says."""
    questions = [f"{number}. {each.question}" for number, each in enumerate(_blocking(judgement), start=1)]
    lines = [
        "This cannot be begun yet. Please tell:" if questions else "This can be begun.",
        *(["", *map(neutralize, questions)] if questions else []),
        *_tell_assumptions(judgement),
        "",
        "Edit the description or answer in a comment: it is read again then, and work begins when nothing is missing.",
    ]
    return "\n".join(lines)


def _blocking(judgement: Judgement) -> list[Finding]:
    return [each for each in judgement.findings if each.blocks]


def _tell_assumptions(judgement: Judgement) -> list[str]:
    if not judgement.assumptions:
        return []
    return ["", "If nobody says otherwise:", "", *(f"- {neutralize(each)}" for each in judgement.assumptions)]
