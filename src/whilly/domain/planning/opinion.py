"""What an agent thinks of an issue before it is worked on; it adds to what the rules found, and takes nothing away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from whilly.domain.challenge import model_word as objecting
from whilly.domain.challenge.finding import Kind, Objection, Review, Severity
from whilly.domain.challenge.piece import read_spec
from whilly.domain.challenge.review import conclude, review_spec
from whilly.domain.intake import model_word as asking
from whilly.domain.intake.readiness import Judgement, judge, weigh
from whilly.domain.intake.rules import Finding
from whilly.domain.trust.strict_json import read_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.intake.rules import Scope
    from whilly.domain.intake.spec import IssueSpec

_KEYS: Final = asking.KEYS | {"objections"}


@dataclass(frozen=True, slots=True)
class Opinion:
    """An answer that can be used.

    Attributes:
        agent: whose it is.
    """

    findings: tuple[Finding, ...] = ()
    objections: tuple[Objection, ...] = ()
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Assessment:
    """What is thought of an issue altogether: what is missing in it, and what speaks against it."""

    judgement: Judgement
    review: Review


def describe_question(spec: IssueSpec) -> dict[str, tuple[str, ...]]:
    """What an answer may name, for the prompt."""
    return {"piece": (read_spec(spec).id,), "kinds": tuple(Kind), "severities": tuple(Severity)}


def read_opinion(text: str, agent: str, spec: IssueSpec) -> Opinion | str:
    """What an agent thinks; otherwise why its answer cannot be used.

    Args:
        text: `{"missing_information", "assumptions", "objections"}` and nothing else.
        agent: whose answer it is.
        spec: the issue that it is about.
    """
    told = read_object(text, _KEYS)
    if isinstance(told, str):
        return told
    findings = asking.read_findings(told)
    if isinstance(findings, str):
        return findings
    objections = objecting.read_objections(told["objections"], {read_spec(spec).id})
    return objections if isinstance(objections, str) else Opinion(findings, objections, agent)


def assess(spec: IssueSpec, scope: Scope, opinion: Opinion | None = None) -> Assessment:
    """What the rules find, and what an agent adds to it."""
    judgement, made = judge(spec, scope), review_spec(spec)
    if opinion is None:
        return Assessment(judgement, made)
    return Assessment(
        weigh(spec, [*judgement.findings, *opinion.findings]),
        conclude((read_spec(spec),), [*made.objections, *opinion.objections]),
    )


def tell_opinion(opinion: Opinion | None) -> str:
    """The opinion for whoever does the work: data, as the issue itself; empty when there is nothing to tell."""
    if opinion is None:
        return ""
    assumed = [f"- Take it for granted: {each.text}" for each in opinion.findings if not each.blocks]
    points = [f"- {each.text}: {each.advice}" for each in opinion.objections if each.severity is not Severity.LOW]
    return "\n".join(["Who has read it before says:", *assumed, *points]) if assumed or points else ""


def describe_opinion(opinion: Opinion | None, why: str = "") -> Mapping[str, Any]:
    """What `readiness.json` says of it.

    Args:
        opinion: None when there is none that could be used.
        why: there is none.
    """
    if opinion is None:
        return {"used": False, "why": why}
    asked = [each.text for each in opinion.findings if each.blocks]
    assumed = [each.text for each in opinion.findings if not each.blocks]
    return {"used": True, "agent": opinion.agent, "missing_information": asked, "assumptions": assumed}
