"""An agent's opinion adds to what the rules found of an issue; whatever it says, nothing of theirs goes away."""

from __future__ import annotations

import json
from typing import Any

import pytest

from whilly.domain.challenge.finding import Verdict
from whilly.domain.intake.issue_text import IssueText
from whilly.domain.intake.normalize import normalize_issue
from whilly.domain.intake.readiness import Readiness
from whilly.domain.intake.rules import Scope
from whilly.domain.planning.opinion import Opinion, assess, describe_opinion, read_opinion, tell_opinion

CLEAR = normalize_issue(
    IssueText("1", "The answer is wrong", "`answer.txt` is wrong.\n\n## Acceptance\n- `answer.txt` contains `right`")
)
VAGUE = normalize_issue(IssueText("1", "Do it", "Make it better."))
OBJECTION = {
    "kind": "missing_risk",
    "severity": "critical",
    "pieces": ["#1"],
    "text": "it burns",
    "advice": "do not",
    "principles": [],
}
QUESTION = {"text": "the limit", "question": "Which limit?"}
EMPTY: dict[str, Any] = {"missing_information": [], "assumptions": [], "objections": []}


def read(**fields: object) -> Opinion:
    told = read_opinion(json.dumps(EMPTY | fields), "sh", CLEAR)
    assert isinstance(told, Opinion), told
    return told


def test_an_opinion_of_nothing_changes_nothing() -> None:
    assert read() == Opinion(agent="sh")
    for spec in (CLEAR, VAGUE):
        assert assess(spec, Scope(), read()) == assess(spec, Scope())
    assert tell_opinion(read()) == tell_opinion(None) == ""


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Looks good to me.", "it is no JSON"),
        ('{"missing_information": [], "assumptions": []}', "its keys are assumptions, missing_information, not"),
        (json.dumps(EMPTY | {"verdict": "approve"}), "its keys are"),
        (json.dumps(EMPTY | {"assumptions": [1]}), "an entry of assumptions is no short text"),
        (json.dumps(EMPTY | {"missing_information": ["x"]}), "an entry of missing_information is not of the form"),
        (json.dumps(EMPTY | {"objections": [OBJECTION | {"pieces": ["#2"]}]}), "objection 1: pieces has to name"),
        (json.dumps(EMPTY | {"assumptions": ["x"] * 21}), "missing_information and assumptions have more than 20"),
        (" " * 100_001, "it has 100001 characters"),
    ],
)
def test_what_is_not_exactly_what_was_asked_for_is_no_opinion(text: str, fault: str) -> None:
    told = read_opinion(text, "sh", CLEAR)
    assert isinstance(told, str)
    assert told.startswith(fault)


def test_a_question_blocks_and_an_assumption_makes_less_sure() -> None:
    assert assess(CLEAR, Scope()).judgement.state is not Readiness.BLOCKED
    asked = assess(CLEAR, Scope(), read(missing_information=[QUESTION])).judgement
    assert (asked.state, asked.missing_information) == (Readiness.BLOCKED, ("the limit",))
    assumed = assess(CLEAR, Scope(), read(assumptions=["in EUR"])).judgement
    assert assumed.confidence < assess(CLEAR, Scope()).judgement.confidence
    assert "in EUR" in assumed.assumptions


def test_what_is_grave_rejects() -> None:
    assert assess(CLEAR, Scope()).review.verdict is not Verdict.REJECT
    made = assess(CLEAR, Scope(), read(objections=[OBJECTION])).review
    assert (made.verdict, made.reason) == (Verdict.REJECT, "it burns")


def test_what_the_rules_found_stays() -> None:
    alone, both = assess(VAGUE, Scope()), assess(VAGUE, Scope(), read(assumptions=["it is clear enough"]))
    assert alone.judgement.state is both.judgement.state is Readiness.BLOCKED
    assert set(alone.judgement.findings) < set(both.judgement.findings)
    assert set(alone.review.objections) <= set(both.review.objections)


def test_who_works_is_told_what_matters() -> None:
    low = OBJECTION | {"severity": "low", "text": "the name is long"}
    told = tell_opinion(read(missing_information=[QUESTION], assumptions=["in EUR"], objections=[OBJECTION, low]))
    assert told == "Who has read it before says:\n- Take it for granted: in EUR\n- it burns: do not"


def test_the_form_in_the_file_stays() -> None:
    assert describe_opinion(read(missing_information=[QUESTION], assumptions=["in EUR"])) == {
        "used": True,
        "agent": "sh",
        "missing_information": ["the limit"],
        "assumptions": ["in EUR"],
    }
    assert describe_opinion(None, "it is no JSON") == {"used": False, "why": "it is no JSON"}
