"""Challenges an issue or a plan by rules: the same answer every time, without an agent and without cost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from whilly.domain.challenge.aspects import CLASHES, PATTERNS, SEPARATION
from whilly.domain.challenge.finding import Kind, Objection, Review, Severity, Verdict
from whilly.domain.challenge.order import find_order_faults
from whilly.domain.challenge.piece import Piece, read_plan, read_spec
from whilly.domain.challenge.risks import OVER_ENGINEERING, RISKS
from whilly.domain.claims import ROOT
from whilly.domain.intake.contradictions import find_opposites

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whilly.domain.intake.spec import IssueSpec
    from whilly.domain.plan import Plan

MAX_CRITERIA: Final = 8
MAX_FILES: Final = 20
ENOUGH_TO_REVISE: Final = 3
"""So many things of middling weight are as good as a grave one."""

_CREEP = re.compile(
    (
        r"(?<!\w)(?:while (?:we(?:'re| are)|you(?:'re| are)|at) (?:at )?it|as a bonus"
        r"|unrelated(?:ly)?|заодно|в придачу|попутно)(?!\w)"
    ),
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!;])\s+|\n+")


def review_plan(plan: Plan) -> Review:
    """What speaks against a plan."""
    return review(read_plan(plan))


def review_spec(spec: IssueSpec) -> Review:
    """What speaks against doing what an issue says."""
    return review((read_spec(spec),))


def review(pieces: Sequence[Piece]) -> Review:
    """What speaks against pieces of work that belong together."""
    found = [objection for piece in pieces for objection in _challenge(piece, pieces)]
    found += find_order_faults(pieces)
    return conclude(pieces, found)


def conclude(pieces: Sequence[Piece], objections: Iterable[Objection]) -> Review:
    """What objections come to, whoever made them."""
    found = tuple(sorted(dict.fromkeys(objections), key=lambda each: (each.severity.rank, list(Kind).index(each.kind))))
    idle_kinds = {Kind.DUPLICATE, Kind.REMOVABLE, Kind.UNCHECKED}
    idle = {each.pieces[-1] for each in found if each.kind in idle_kinds}
    ideality = round(1 - len(idle & {each.id for each in pieces}) / len(pieces), 2) if pieces else 0.0
    return Review(found, ideality, *_decide(found))


def list_points(made: Review) -> tuple[str, ...]:
    """What a plan has to answer, for its prompt; empty when nothing has to be revised."""
    if made.verdict is Verdict.APPROVE:
        return ()
    return tuple(f"{each.text}: {each.advice}" for each in made.objections if each.severity is not Severity.LOW)


def _decide(found: Sequence[Objection]) -> tuple[Verdict, str]:
    grave = [each for each in found if each.severity is Severity.CRITICAL]
    if grave:
        return Verdict.REJECT, grave[0].text
    high = [each for each in found if each.severity is Severity.HIGH]
    middling = [each for each in found if each.severity is Severity.MEDIUM]
    if high or len(middling) >= ENOUGH_TO_REVISE:
        count = len(high) + len(middling)
        return Verdict.REVISE, f"{count} {'thing has' if count == 1 else 'things have'} to be answered first"
    return Verdict.APPROVE, "nothing that was looked for speaks against it"


def _challenge(piece: Piece, pieces: Sequence[Piece]) -> Iterator[Objection]:
    yield from _find_contradictions(piece)
    yield from _find_bulk(piece)
    yield from _find_risks(piece, pieces)
    for name, pattern in OVER_ENGINEERING:
        if found := pattern.search(piece.text):
            text = f"{piece.id} asks for {name} (“{found[0]}”)"
            advice = "build what a criterion asks for; mention the rest instead"
            yield Objection(Kind.OVER_ENGINEERING, Severity.MEDIUM, (piece.id,), text, advice, (2, 16, 27))
    if found := _CREEP.search(piece.text):
        text = f"{piece.id} takes something along that is another matter (“{found[0]}”)"
        yield Objection(Kind.SCOPE_CREEP, Severity.MEDIUM, (piece.id,), text, "make it a piece of its own", (1, 2))


def _find_contradictions(piece: Piece) -> Iterator[Objection]:
    for first, second in find_opposites([*piece.criteria, *_SENTENCE.split(piece.text)]):
        are_criteria = first in piece.criteria and second in piece.criteria
        severity = Severity.CRITICAL if are_criteria else Severity.HIGH
        text = f"{piece.id} wants “{first}” and “{second}”"
        advice = "say when, where or for whom each holds, or drop one"
        yield Objection(Kind.PHYSICAL_CONTRADICTION, severity, (piece.id,), text, advice, SEPARATION)
    for clash in CLASHES:
        wanted, kept = PATTERNS[clash.improves].search(piece.text), PATTERNS[clash.worsens].search(piece.text)
        if wanted and kept and wanted.span() != kept.span():
            text = f"{piece.id} wants {clash.improves} (“{wanted[0]}”) and {clash.worsens} (“{kept[0]}”)"
            severity = Severity.MEDIUM
            yield Objection(
                Kind.TECHNICAL_CONTRADICTION, severity, (piece.id,), text, clash.resolution, clash.principles
            )


def _find_bulk(piece: Piece) -> Iterator[Objection]:
    if not piece.checks:
        text = f"nothing says when {piece.id} is done"
        advice = "add a criterion, or a command that proves it"
        yield Objection(Kind.UNCHECKED, Severity.MEDIUM, (piece.id,), text, advice, (23,))
    if ROOT in piece.key_files:
        text = f"{piece.id} claims the whole repository, so that nothing can be done beside it"
        yield Objection(Kind.TOO_LARGE, Severity.MEDIUM, (piece.id,), text, "name the files", (1, 3))
    if len(piece.criteria) > MAX_CRITERIA or len(piece.key_files) > MAX_FILES:
        text = f"{piece.id} is large: {len(piece.criteria)} criteria, {len(piece.key_files)} claims on files"
        yield Objection(Kind.TOO_LARGE, Severity.MEDIUM, (piece.id,), text, "split it", (1, 10))


def _find_risks(piece: Piece, pieces: Sequence[Piece]) -> Iterator[Objection]:
    # What comes after it may be the answer: a task that tests the migration of another.
    told = "\n".join([piece.text, *(each.text for each in pieces if piece.id in each.dependencies)])
    for risk in RISKS:
        trigger = risk.trigger.search(piece.text)
        if trigger and not risk.answer.search(told):
            severity = Severity.HIGH if risk.is_grave else Severity.MEDIUM
            text = f"{piece.id} says nothing about a risk of “{trigger[0]}” ({risk.name})"
            yield Objection(Kind.MISSING_RISK, severity, (piece.id,), text, risk.question, (11, 9))
