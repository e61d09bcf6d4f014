"""Any issue becomes a spec and a judgement: the same ones every time, and soon."""

from __future__ import annotations

import json
from time import process_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whilly.domain.intake.issue_text import IssueText
from whilly.domain.intake.normalize import normalize_issue
from whilly.domain.intake.readiness import Readiness, ask, describe_readiness, judge
from whilly.domain.intake.rules import Scope
from whilly.domain.intake.spec import describe_spec

HEADINGS = ("## Acceptance", "## Test", "**Test**", "Критерии приёмки", "## Critères d'acceptation", "# # #")
ENTRIES = ("**Files:** a, `b`", "**Depends:** #1", "- [ ] it is 5", "- [x] it is 6", "1. not it", "- ", "  more")
OTHERS = ("```", "~~~", "<!--", "-->", "need the production password", "\0", "\u202e", "text")
LINES = st.sampled_from([*HEADINGS, *ENTRIES, *OTHERS])
BODIES = st.lists(LINES | st.text(max_size=20), max_size=15).map("\n".join)
PIECES = [
    "a",
    " ",
    "-",
    "a-",
    "a/",
    "« ",
    "?",
    "#",
    "# ",
    "- a\n",
    "*",
    "**a:** ",
    "`",
    "( ",
    "a.",
    "\n",
    "0.",
    "not ",
    "<",
]


STEADY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine says nothing about the code."""


@STEADY
@given(st.text(max_size=30), BODIES, st.lists(st.text(max_size=12), max_size=3).map(tuple))
def test_any_issue_is_judged(title: str, body: str, labels: tuple[str, ...]) -> None:
    issue = IssueText("7", title, body, labels)
    spec = normalize_issue(issue)
    judgement = judge(spec, Scope(forbidden=("b",)))
    assert (spec, judgement) == (normalize_issue(issue), judge(spec, Scope(forbidden=("b",))))
    assert 0 < judgement.confidence <= 1
    assert (judgement.state is Readiness.BLOCKED) is bool(judgement.missing_information)
    written = json.dumps([describe_spec(spec), describe_readiness(judgement), ask(judgement)])
    assert not {"\\u0000", "\\u202e"} & set(written.split())
    assert set(spec.absent) <= set(describe_spec(spec))


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("start", ["", "# ", "## Acceptance\n- ", "**Files:** ", "## Depends\n"])
def test_a_hostile_issue_takes_no_time(start: str, piece: str) -> None:
    body = start + piece * (60_000 // len(piece)) + "x"
    begun = process_time()
    judgement = judge(normalize_issue(IssueText("7", body[:400], body)), Scope())
    ask(judgement)
    assert process_time() - begun < 3
