"""Each kind of work has its way, and what it demands is seen in the change."""

from __future__ import annotations

import pytest

from whilly.domain.intake.issue_text import IssueText
from whilly.domain.intake.normalize import normalize_issue
from whilly.domain.intake.strategy import (
    APPROACHES,
    Proof,
    Seen,
    Strategy,
    choose_strategy,
    describe_strategy,
    find_missing,
    is_document,
)


@pytest.mark.parametrize(
    ("title", "labels", "body", "strategy"),
    [
        ("x", ("bug",), "", "bugfix_repro_first"),
        ("x", ("feature",), "", "feature_plan_first"),
        ("x", ("refactor",), "", "refactor_guarded"),
        ("x", ("docs",), "", "docs_only"),
        ("x", (), "", "unknown_safe_mode"),
        ("x", ("bug",), "**Strategy:** `refactor-guarded`", "refactor_guarded"),
        ("x", ("bug",), "## Стратегия\nDocs only", "docs_only"),
        ("x", ("bug",), "**Strategy:** yolo", "bugfix_repro_first"),
        ("Totals", (), "It would be nice to see them in EUR", "unknown_safe_mode"),
    ],
)
def test_a_strategy_is_chosen(title: str, labels: tuple[str, ...], body: str, strategy: str) -> None:
    choice = choose_strategy(normalize_issue(IssueText("1", title, body, labels)))
    assert choice.approach.strategy == strategy
    assert describe_strategy(choice)["strategy"] == strategy
    assert ("yolo" in choice.why) is ("yolo" in body)


def test_every_strategy_says_what_it_demands() -> None:
    assert set(APPROACHES) == set(Strategy)
    assert all(each.proofs and each.steps and each.stops for each in APPROACHES.values())


GOOD = Seen(("src/a.py", "tests/test_a.py"), 20, ("t::a",), ("tests/test_a.py",), (), old_tests_pass=True)


@pytest.mark.parametrize(
    ("strategy", "seen", "missing"),
    [
        (Strategy.BUGFIX_REPRO_FIRST, GOOD, []),
        (Strategy.BUGFIX_REPRO_FIRST, Seen(("a.py",), 2), [Proof.FAILS_BEFORE, Proof.OLD_TESTS_PASS]),
        (Strategy.FEATURE_PLAN_FIRST, GOOD, []),
        (Strategy.FEATURE_PLAN_FIRST, Seen(("a.py",), 2, tests_added=(), old_tests_pass=True), [Proof.TESTS_ADDED]),
        (Strategy.REFACTOR_GUARDED, GOOD, []),
        (
            Strategy.REFACTOR_GUARDED,
            Seen(("a.py",), 2, old_tests_changed=("tests/test_a.py",), old_tests_pass=True),
            [Proof.OLD_TESTS_UNTOUCHED],
        ),
        (Strategy.REFACTOR_GUARDED, Seen(("a.py",), 2, old_tests_pass=True), [Proof.OLD_TESTS_UNTOUCHED]),
        (Strategy.DOCS_ONLY, Seen(("README.md", "docs/a.png"), 2000), []),
        (Strategy.DOCS_ONLY, GOOD, [Proof.DOCUMENTS_ONLY]),
        (Strategy.UNKNOWN_SAFE_MODE, GOOD, []),
        (Strategy.UNKNOWN_SAFE_MODE, Seen(("a.py",), 301, old_tests_pass=True), [Proof.SMALL]),
    ],
)
def test_what_is_not_seen_is_not_proven(strategy: Strategy, seen: Seen, missing: list[Proof]) -> None:
    assert [proof for proof, _ in find_missing(APPROACHES[strategy], seen)] == missing
    assert all(why for _, why in find_missing(APPROACHES[strategy], seen))


@pytest.mark.parametrize("path", ["README.md", "docs/guide.rst", "LICENSE", "doc/a/b.svg", "CHANGELOG"])
def test_documents_are_for_people(path: str) -> None:
    assert is_document(path)


@pytest.mark.parametrize(
    "path",
    [
        "CLAUDE.md",
        "a/AGENTS.md",
        "requirements.txt",
        "docs/conf.py",
        "src/a.png",
        ".github/a.md",
        ".whilly/prompts/x.md",
    ],
)
def test_what_steers_agents_or_builds_is_no_document(path: str) -> None:
    assert not is_document(path)
