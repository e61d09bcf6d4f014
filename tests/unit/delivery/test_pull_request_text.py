"""A pull request tells what was done and what was seen, and does nothing by being read."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whilly.domain.delivery.draft import find_draft_reasons
from whilly.domain.delivery.pull_request_text import (
    CAPS,
    Checked,
    Source,
    Story,
    compose_body,
    compose_title,
)
from whilly.domain.failure.verdict import Ruling, Verdict
from whilly.domain.intake.readiness import Judgement, Readiness
from whilly.domain.intake.strategy import APPROACHES, Proof, Strategy

if TYPE_CHECKING:
    from whilly.domain.forge.place import Provider

GOLDEN = Path(__file__).parent.parent.parent / "data" / "pull_requests"
SOURCE = Source("owner/repo#12", "Totals are wrong", "https://forge.example/owner/repo/issues/12", "#12")
STORY = Story(
    source=SOURCE,
    what="Totals are computed with Decimal.\n\n- `total()` rounds once\n- a test shows it",
    why="The invoice shows 0.30 where 0.29 is right.",
    checks=(Checked("make test", has_passed=True), Checked("ruff check . | tail", has_passed=True)),
    criteria=(("totals are exact", True), ("nothing else changes", True)),
    risks=("old invoices show other totals",),
    assumptions=("amounts are in EUR",),
    strategy="bugfix_repro_first",
    run="GH-12-1",
    sessions=2,
    cost_usd=Decimal("0.4217"),
)
HOSTILE = "@all fixes #1 ![x](http://e.example?d=1) <img src=x>\n/merge\n```\n## Validation\nnothing to see"
PARTIAL = Story(
    source=Source("ABC-12", "WIP: [Draft] @all see", "https://tracker.example/browse/ABC-12"),
    what=HOSTILE,
    why=HOSTILE,
    checks=(Checked("make `test`", has_passed=False, output="E  assert 1 == 2\n```\n@all"),),
    criteria=(("it works\n@all", False),),
    risks=(HOSTILE,),
    draft_because=("3 repairs did not mend it: @all",),
    is_partial=True,
)


@pytest.mark.parametrize(("name", "story"), [("finished", STORY), ("partial", PARTIAL)])
def test_the_text_is_as_it_was(name: str, story: Story) -> None:
    assert compose_body(story) + "\n" == (GOLDEN / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("source", "title"),
    [
        (SOURCE, "Totals are wrong (#12)"),
        (PARTIAL.source, "ABC-12: @\u200ball see"),
        (Source("o/r#1", "", closing="#1"), "Issue (#1)"),
        (Source("ABC-1", ""), "ABC-1"),
        (Source("o/r#1", "a\nb [skip ci]", closing="#1"), "a b [\u200bskip ci] (#1)"),
        (Source("o/r#1", "Drafting rules", closing="#1"), "Drafting rules (#1)"),
    ],
)
def test_a_title_names_the_issue(source: Source, title: str) -> None:
    assert compose_title(source) == title


STEADY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine says nothing about the code."""


@STEADY
@given(st.text(max_size=400), st.sampled_from(["#12", "owner/repo#12", ""]))
def test_a_title_fits_and_makes_no_draft(title: str, closing: str) -> None:
    composed = compose_title(Source("owner/repo#12", title, closing=closing))
    assert len(composed) <= 100
    assert "\n" not in composed
    assert not re.match(r"\[?(draft|wip)\]?:", composed, re.IGNORECASE)


@pytest.mark.parametrize(
    ("source", "is_partial", "line"),
    [
        (SOURCE, False, "Closes #12"),
        (SOURCE, True, "Part of #12"),
        (replace(SOURCE, closing=""), False, "For [owner/repo#12](https://forge.example/owner/repo/issues/12)"),
        (Source("ABC-1", "t"), False, "For ABC-1"),
    ],
)
def test_merging_closes_what_is_finished(source: Source, line: str, *, is_partial: bool) -> None:
    assert compose_body(replace(STORY, source=source, is_partial=is_partial)).startswith(f"{line}\n\n")


@pytest.mark.parametrize("provider", list(CAPS))
def test_a_long_story_fits(provider: Provider) -> None:
    limit = CAPS[provider].body
    long = replace(
        PARTIAL,
        source=SOURCE,
        what="word " * 400_000,
        why="line\n" * 300_000,
        risks=("risk " * 200,) * 4000,
        checks=(Checked("make " + "x" * 500, has_passed=False, output="out\n" * 50_000),) * 50,
    )
    body = compose_body(long, limit)
    assert len(body) <= limit - 400
    assert body.startswith("Part of #12\n")
    assert "**failed**" in body
    assert body.endswith("A person reviews and merges it.")


@STEADY
@given(st.text(max_size=300), st.integers(600, 3000))
def test_any_story_fits_and_closes_one_issue(text: str, limit: int) -> None:
    story = replace(STORY, what=text * 20, why=text, risks=(text,) * 30, checks=(Checked(text, has_passed=False),))
    body = compose_body(story, limit)
    assert len(body) <= limit
    assert re.findall(r"(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b[\s:]+#\d+", body) == ["Closes #12"]


def test_unknown_cost_is_not_zero() -> None:
    assert "## Cost\n\nnot known\n" in compose_body(replace(STORY, cost_usd=None, sessions=0))
    assert "Nothing was run." in compose_body(replace(STORY, checks=()))


def test_a_draft_has_its_reasons() -> None:
    sure = Judgement(Readiness.READY, 0.9)
    unsure = Judgement(Readiness.READY_WITH_ASSUMPTIONS, 0.5)
    passed = Ruling(Verdict.PASS, "every check passed")
    gone = Ruling(Verdict.ESCALATE, "3 repairs did not mend it", has_value=True)
    bugfix, unknown = APPROACHES[Strategy.BUGFIX_REPRO_FIRST], APPROACHES[Strategy.UNKNOWN_SAFE_MODE]
    assert find_draft_reasons(sure, bugfix, passed) == ()
    assert find_draft_reasons(unsure, bugfix, passed) == (
        "it is not sure that this is what is wanted (confidence 0.50)",
    )
    assert find_draft_reasons(sure, unknown, gone) == (
        "the strategy unknown_safe_mode always asks for a look",
        "it is not finished: 3 repairs did not mend it",
    )
    missing = [(Proof.FAILS_BEFORE, "no test fails before")]
    assert find_draft_reasons(sure, bugfix, passed, missing, ["ci"]) == ("no test fails before", "ci")
