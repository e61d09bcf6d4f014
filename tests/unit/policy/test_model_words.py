"""A model's answer is exactly what was asked for, or it is nothing; it adds to the rules and takes nothing away."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whilly.domain.challenge.finding import MODEL, Kind, Objection, Severity, Verdict
from whilly.domain.challenge.model_word import read_objections
from whilly.domain.challenge.piece import Piece
from whilly.domain.challenge.review import conclude
from whilly.domain.intake.issue_text import IssueText
from whilly.domain.intake.model_word import read_findings
from whilly.domain.intake.normalize import normalize_issue
from whilly.domain.intake.readiness import Readiness, weigh
from whilly.domain.intake.rules import Finding
from whilly.domain.trust.strict_json import read_object

GOOD = {"missing_information": [{"text": "the\u200b limit", "question": "Which limit?"}], "assumptions": ["in EUR"]}
OBJECTION = {
    "kind": "missing_risk",
    "severity": "critical",
    "pieces": ["T-1"],
    "text": "it burns",
    "advice": "do not",
    "principles": [11],
}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, "a": 2}', "the key 'a' occurs twice"),
        ('{"a": {"b": 1, "b": 1}}', "the key 'b' occurs twice"),
        ('{"a": NaN}', "NaN is no value of JSON"),
        ('{"a": 1, "b": 2}', "its keys are a, b, not a"),
        ("{}", "its keys are none, not a"),
        ("true", "it is no object"),
        ("[]", "it is no object"),
        ("not APPROVED", "it is no JSON"),
        ('Sure! {"a": 1}', "it is no JSON"),
        ("", "it is no JSON"),
        ("[" * 90_000, "it is no JSON"),
        (" " * 100_001, "it has 100001 characters, more than 100000"),
        ('{"a": ' + "1" * 5000 + "}", "it is no JSON"),
    ],
)
def test_anything_else_is_refused_with_the_reason(text: str, reason: str) -> None:
    assert read_object(text, {"a"}) == reason


def test_a_block_of_code_is_read() -> None:
    assert read_object('```json\n{"a": 1}\n```', {"a"}) == {"a": 1}


def test_a_model_may_ask_and_assume() -> None:
    assert read_findings(GOOD) == (
        Finding("model", blocks=True, text="the limit", question="Which limit?"),
        Finding("model", blocks=False, text="in EUR"),
    )


def test_a_model_takes_nothing_away() -> None:
    spec = normalize_issue(IssueText("1", "Fix", ""))
    rule = Finding("too_short", blocks=True, text="x", question="y")
    answer = read_findings({"missing_information": [], "assumptions": []})
    assert answer == ()
    assert weigh(spec, [rule, *answer]).state is Readiness.BLOCKED


@pytest.mark.parametrize(
    "changed",
    [
        {"missing_information": "x"},
        {"missing_information": ["x"]},
        {"missing_information": [{"text": "x"}]},
        {"missing_information": [{"text": "x", "question": " "}]},
        {"assumptions": [1]},
        {"assumptions": ["x" * 501]},
        {"assumptions": ["x"] * 21},
    ],
)
def test_a_judgement_of_another_form_is_refused(changed: dict[str, object]) -> None:
    assert isinstance(read_findings(GOOD | changed), str)


def test_an_objection_of_a_model_counts() -> None:
    found = read_objections([OBJECTION], {"T-1"})
    assert found == (Objection(Kind.MISSING_RISK, Severity.CRITICAL, ("T-1",), "it burns", "do not", (11,), MODEL),)
    piece = Piece("T-1", "x", "x", ("c",), 1)
    assert conclude([piece], found).verdict is Verdict.REJECT


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"kind": "odd"}, "there is no such kind"),
        ({"severity": "CRITICAL"}, "there is no such severity"),
        ({"pieces": ["T-2"]}, "pieces has to name"),
        ({"pieces": []}, "pieces has to name"),
        ({"pieces": [["T-1"]]}, "pieces has to name"),
        ({"text": ""}, "text and advice"),
        ({"principles": [41]}, "principles are numbers"),
        ({"principles": [True]}, "principles are numbers"),
        ({"extra": 1}, "its keys have to be"),
    ],
)
def test_an_objection_of_another_form_is_refused(changed: dict[str, object], reason: str) -> None:
    told = read_objections([OBJECTION, OBJECTION | changed], {"T-1"})
    assert isinstance(told, str)
    assert told.startswith(f"objection 2: {reason}")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "question", "x"]), inner),
    max_leaves=8,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(VALUES, VALUES)
def test_whatever_a_model_says_is_an_answer_or_a_reason(first: object, second: object) -> None:
    told = read_findings({"missing_information": first, "assumptions": second})
    assert isinstance(told, str | tuple)
    assert isinstance(read_objections(first, {"T-1"}), str | tuple)
