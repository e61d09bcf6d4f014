"""A plan holds what the issue says; what an agent proposes is taken strictly, or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from whilly.domain.challenge.review import review_spec
from whilly.domain.intake.issue_text import IssueText
from whilly.domain.intake.normalize import normalize_issue
from whilly.domain.intake.strategy import choose_strategy
from whilly.domain.planning.work_plan import Proposal, WorkPlan, describe_plan, plan_by_rules, read_proposal, tell_plan

BODY = """\
Add an export of carts, and migrate the table of carts.

**Files:** `src/cart/export.py`, `README.md`

## Acceptance
- it writes CSV
- [x] it has a name

## Test
- `make export`
"""
SPEC = normalize_issue(IssueText("shop#1", "Add an export", BODY, is_trusted=True))
RULES = plan_by_rules(SPEC, choose_strategy(SPEC).approach, review_spec(SPEC), ["make test"])
ANSWER: dict[str, Any] = {
    "problem": "There is  no export.",
    "modules": ["cart"],
    "files": ["src/cart/export.py"],
    "validation": ["make export", "open it"],
    "risks": ["it is slow"],
    "stop_conditions": ["the format is not CSV"],
    "tasks": [],
}


def read(**changed: object) -> Proposal | str:
    return read_proposal(json.dumps({**ANSWER, **changed}), "claude", RULES)


def test_the_rules_plan_what_the_issue_says() -> None:
    assert RULES.problem == "Add an export of carts, and migrate the table of carts."
    assert (RULES.modules, RULES.files) == (("src/cart", "."), ("src/cart/export.py", "README.md"))
    assert RULES.validation == ("make test", "make export", "it writes CSV")
    assert any("migrate" in risk for risk in RULES.risks)
    assert RULES.stop_conditions == ("same_failure_twice", "too_many_repairs", "change_too_large")
    assert (RULES.made_by, RULES.notes) == ("rules", ())


def test_what_an_agent_proposes_adds_to_what_has_to_be_shown() -> None:
    proposal = read()
    assert isinstance(proposal, Proposal)
    plan = proposal.plan
    assert (plan.problem, plan.made_by, proposal.tasks) == ("There is no export.", "claude", "")
    assert plan.validation == ("make test", "make export", "it writes CSV", "open it")
    assert plan.stop_conditions[-2:] == ("change_too_large", "the format is not CSV")
    assert (plan.modules, plan.risks) == (("cart",), ("it is slow",))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"problem": ""}, "problem has to be a text of at most 4000 characters"),
        ({"problem": "\u200b"}, "problem has to be a text of at most 4000 characters"),
        ({"problem": 7}, "problem has to be a text of at most 4000 characters"),
        ({"problem": "x" * 4001}, "problem has to be a text of at most 4000 characters"),
        ({"risks": "many"}, "risks has to be a list of at most 20 short texts"),
        ({"risks": ["x"] * 21}, "risks has to be a list of at most 20 short texts"),
        ({"files": [["a"]]}, "files has to be a list of at most 20 short texts"),
        ({"validation": ["x" * 501]}, "validation has to be a list of at most 20 short texts"),
        ({"tasks": {}}, "tasks has to be a list"),
        ({"more": 1}, "its keys are files, modules, more, problem, risks, stop_conditions, tasks, validation, not "),
    ],
)
def test_what_is_not_what_was_asked_for_is_refused(changed: dict[str, object], why: str) -> None:
    found = read(**changed)
    assert isinstance(found, str)
    assert found.startswith(why)


@pytest.mark.parametrize("text", ["", "Here it is: {}", "[]", "{" * 100_001, "{" * 50_000, '{"problem": NaN}'])
def test_what_is_no_answer_is_refused(text: str) -> None:
    assert isinstance(read_proposal(text, "claude", RULES), str)


def test_hidden_characters_of_an_answer_are_taken_out() -> None:
    proposal = read(risks=["a\u202eb\x1b[31m c", "\u200b"], problem="fine\u200b\n\nindeed")
    assert isinstance(proposal, Proposal)
    assert proposal.plan.problem == "fine indeed"
    assert proposal.plan.risks == ("ab c",)


def test_only_a_plan_that_somebody_made_is_told() -> None:
    assert tell_plan(None) == ""
    assert tell_plan(describe_plan(RULES)) == ""
    told = tell_plan(describe_plan(WorkPlan("It is so.", risks=("a",), made_by="claude")))
    assert told == "The plan that was made of it:\nIt is so.\nRisks:\n- a"
