"""A review as data: in the forms of `whilly plan triz --json`, `whilly plan challenge --json` and `challenge.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from whilly.domain.challenge.finding import Kind
from whilly.domain.challenge.principles import get_principle

if TYPE_CHECKING:
    from whilly.domain.challenge.finding import Objection, Review

VERSION: Final = 1

_TYPES: Final = {
    Kind.PHYSICAL_CONTRADICTION: "physical",
    Kind.TECHNICAL_CONTRADICTION: "technical",
    Kind.MISSING_DEPENDENCY: "missing",
    Kind.FALSE_DEPENDENCY: "false",
}
_ACTIONS: Final = {
    Kind.MERGEABLE: "merge",
    Kind.DUPLICATE: "remove",
    Kind.REMOVABLE: "remove",
    Kind.TOO_LARGE: "split",
    Kind.MISSING_DEPENDENCY: "reorder",
    Kind.FALSE_DEPENDENCY: "reorder",
    Kind.UNCHECKED: "add",
    Kind.MISSING_RISK: "add",
}


def describe_triz(made: Review) -> dict[str, Any]:
    """Contradictions with the principles that help, ideality, resources, order."""

    def of(*kinds: Kind) -> list[Objection]:
        return [each for each in made.objections if each.kind in kinds]

    removable = [each.pieces[-1] for each in of(Kind.REMOVABLE, Kind.DUPLICATE)]
    idle = [each.pieces[-1] for each in of(Kind.UNCHECKED)]
    return {
        "version": VERSION,
        "contradictions": [
            {
                "type": _TYPES[each.kind],
                "description": each.text,
                "task_ids": list(each.pieces),
                "triz_principles": [_name(number) for number in each.principles],
                "resolution": each.advice,
            }
            for each in of(Kind.PHYSICAL_CONTRADICTION, Kind.TECHNICAL_CONTRADICTION)
        ],
        "ideality": {"current_score": made.ideality, "removable_tasks": removable, "unchecked_tasks": idle},
        "resources": {
            "mergeable_groups": [list(each.pieces) for each in of(Kind.MERGEABLE)],
            "duplicates": [list(each.pieces) for each in of(Kind.DUPLICATE)],
        },
        "dependency_issues": [
            {"type": _TYPES[each.kind], "task_ids": list(each.pieces), "suggestion": each.advice, "why": each.text}
            for each in of(Kind.MISSING_DEPENDENCY, Kind.FALSE_DEPENDENCY)
        ],
        "recommendations": [
            {
                "action": _ACTIONS[each.kind],
                "task_ids": list(each.pieces),
                "triz_principle": each.principles[0],
                "description": each.advice,
            }
            for each in of(*_ACTIONS)
        ],
        "overall_assessment": made.reason,
    }


def describe_challenge(made: Review) -> dict[str, Any]:
    """`challenge.json`: everything that was found, by weight, and the verdict."""

    def texts(kind: Kind) -> list[str]:
        return [each.text for each in made.objections if each.kind is kind]

    return {
        "version": VERSION,
        "verdict": made.verdict,
        "summary": made.reason,
        "ideality": made.ideality,
        "challenges": [
            {
                "kind": each.kind,
                "severity": each.severity,
                "task_ids": list(each.pieces),
                "question": each.text,
                "alternative": each.advice,
                "triz_principles": list(each.principles),
                "found_by": each.found_by,
            }
            for each in made.objections
        ],
        "over_engineering": texts(Kind.OVER_ENGINEERING),
        "missing_risks": texts(Kind.MISSING_RISK),
        "scope_creep": texts(Kind.SCOPE_CREEP),
        "sequencing_errors": [
            {"tasks": list(each.pieces), "reason": each.text}
            for each in made.objections
            if each.kind in {Kind.MISSING_DEPENDENCY, Kind.FALSE_DEPENDENCY}
        ],
    }


def _name(number: int) -> dict[str, Any]:
    principle = get_principle(number)
    return {"number": principle.number, "name": principle.name, "idea": principle.idea}
