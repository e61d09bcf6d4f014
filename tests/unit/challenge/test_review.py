"""What speaks against a plan is said before it costs anything, and nothing else is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.planfile import parse, sample_plan
from whilly.domain.challenge.aspects import CLASHES, PATTERNS, SEPARATION
from whilly.domain.challenge.describe import describe_challenge, describe_triz
from whilly.domain.challenge.finding import Kind, Review, Severity, Verdict
from whilly.domain.challenge.piece import Piece
from whilly.domain.challenge.principles import PRINCIPLES, get_principle
from whilly.domain.challenge.review import list_points, review, review_plan, review_spec
from whilly.domain.intake.issue_text import IssueText
from whilly.domain.intake.normalize import normalize_issue

if TYPE_CHECKING:
    from pathlib import Path
from time import process_time


def piece(name: str, text: str, *criteria: str, files: tuple[str, ...] = (), after: tuple[str, ...] = ()) -> Piece:
    kept = criteria or ("it works as told",)
    return Piece(name, text.split("\n", maxsplit=1)[0], "\n".join([text, *kept]), kept, len(kept), files, after)


def kinds(*pieces: Piece) -> list[Kind]:
    return [each.kind for each in review(pieces).objections]


def test_all_forty_principles_are_there() -> None:
    assert [each.number for each in PRINCIPLES] == list(range(1, 41))
    assert len({each.name for each in PRINCIPLES}) == len({each.idea for each in PRINCIPLES}) == 40
    assert get_principle(40).name == "Composite materials"
    for number in (0, 41):
        with pytest.raises(IndexError):
            get_principle(number)


def test_what_points_to_principles_points_to_some_that_exist() -> None:
    named = {number for clash in CLASHES for number in clash.principles} | set(SEPARATION)
    assert named <= set(range(1, 41))
    assert {clash.improves for clash in CLASHES} | {clash.worsens for clash in CLASHES} == set(PATTERNS)


@pytest.mark.parametrize(
    ("text", "criterion"),
    [
        ("Cache the totals", "they are always up to date"),
        ("Make the page faster than 50 ms", "no new dependencies"),
        ("Add two-factor login", "people stay logged in, without password, test shows who is refused"),
        ("Make the export configurable", "it stays simple"),
        ("Rename the field in version 2", "old clients still work"),
        ("Log every request", "personal data is not kept"),
        ("Merge automatically", "a change must be approved"),
        ("Ускорить отчёт до 5 сек, кэш", "всегда актуальные"),
    ],
)
def test_wishes_that_work_against_each_other_are_a_technical_contradiction(text: str, criterion: str) -> None:
    made = review((piece("T-1", text, criterion),))
    (found,) = [each for each in made.objections if each.kind is Kind.TECHNICAL_CONTRADICTION]
    assert found.principles
    assert found.advice


@pytest.mark.parametrize(
    "text",
    ["Show the totals on the page", "Cache the totals", "The cache is configurable", "A simple page for the settings"],
)
def test_one_wish_alone_is_none(text: str) -> None:
    assert kinds(piece("T-1", text)) == []


def test_a_criterion_and_its_opposite_are_a_physical_contradiction_and_end_it() -> None:
    made = review((piece("T-1", "Totals", "Totals are cached", "Totals are not cached"),))
    assert (made.verdict, made.objections[0].kind) == (Verdict.REJECT, Kind.PHYSICAL_CONTRADICTION)
    assert made.objections[0].principles == SEPARATION
    assert "Totals are not cached" in made.reason


def test_tasks_on_the_same_files_may_contradict_each_other() -> None:
    first = piece("T-1", "Keep the header", "the header is visible", files=("src/page.py",))
    second = piece("T-2", "Clean the page up", "the header is hidden", files=("src",))
    made = review((first, second))
    assert [(each.kind, each.severity) for each in made.objections] == [(Kind.PHYSICAL_CONTRADICTION, Severity.HIGH)]
    assert made.verdict is Verdict.REVISE
    elsewhere = piece("T-2", "Clean the page up", "the header is hidden", files=("docs",))
    assert kinds(first, elsewhere) == []


def test_a_task_that_speaks_of_another_waits_for_it() -> None:
    first = piece("T-100", "Write the parser", files=("src/parser.py",))
    for text in ("Use what T-100 gives", "Call the code in src/parser.py"):
        assert kinds(first, piece("T-2", text, files=("src/b.py",))) == [Kind.MISSING_DEPENDENCY]
        assert kinds(first, piece("T-2", text, files=("src/b.py",), after=("T-100",))) == []
    middle = piece("T-3", "Test the parser", after=("T-100",))
    assert kinds(first, middle, piece("T-2", "Use what T-100 gives", after=("T-3",))) == []
    assert kinds(first, piece("T-2", "Use what T-1000 gives")) == []


def test_a_dependency_without_a_reason_is_asked_about() -> None:
    first = piece("T-1", "Write the parser", files=("src/parser.py",))
    assert kinds(first, piece("T-2", "Paint the door green", files=("door.py",), after=("T-1",))) == [
        Kind.FALSE_DEPENDENCY
    ]
    assert kinds(first, piece("T-2", "Show what the parser says", files=("door.py",), after=("T-1",))) == []


def test_doubles_and_crumbs_are_found() -> None:
    one = piece("T-1", "Show the totals of invoices", files=("a.py",))
    assert kinds(one, piece("T-2", "Show totals of the invoices", files=("b.py",))) == [Kind.DUPLICATE]
    assert kinds(one, piece("T-2", "Sort totals", files=("a.py",), after=("T-1",))) == [Kind.MERGEABLE]
    idle = Piece("T-2", "Think about it", "Think about it")
    assert set(kinds(one, idle)) == {Kind.UNCHECKED, Kind.REMOVABLE}
    assert review((one, idle)).ideality == 0.5


@pytest.mark.parametrize(
    ("text", "answered", "severity"),
    [
        ("Delete the old invoices", "Delete the old invoices after a backup", Severity.HIGH),
        ("Add an admin page", "Add an admin page; a test shows that others are refused", Severity.HIGH),
        ("Compute refunds", "Compute refunds exactly, rounding once", Severity.HIGH),
        ("Make the list faster", "Make the list faster: 100 ms", Severity.MEDIUM),
        ("Call a third-party webhook", "Call a third-party webhook with a timeout", Severity.MEDIUM),
        ("Миграция таблицы", "Миграция таблицы с откатом", Severity.HIGH),
    ],
)
def test_a_risk_that_nobody_named_is_asked_about(text: str, answered: str, severity: Severity) -> None:
    assert [(each.kind, each.severity) for each in review((piece("T-1", text),)).objections] == [
        (Kind.MISSING_RISK, severity)
    ]
    assert kinds(piece("T-1", answered)) == []


def test_a_later_task_may_be_the_answer() -> None:
    risky = piece("T-1", "Delete the old invoices", files=("a.py",))
    assert kinds(risky, piece("T-2", "Show that invoices have a backup", files=("b.py",), after=("T-1",))) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Build a plugin system for colours", Kind.OVER_ENGINEERING),
        ("Add a field, just in case", Kind.OVER_ENGINEERING),
        ("Добавить поле на будущее", Kind.OVER_ENGINEERING),
        ("Fix totals and, while we're at it, the header", Kind.SCOPE_CREEP),
    ],
)
def test_too_much_is_too_much(text: str, kind: Kind) -> None:
    assert kinds(piece("T-1", text)) == [kind]


def test_large_tasks_are_to_be_split() -> None:
    many = [f"thing {number} works" for number in range(9)]
    assert kinds(piece("T-1", "Do it all", *many)) == [Kind.TOO_LARGE]
    assert kinds(piece("T-1", "Do it all", files=(".",))) == [Kind.TOO_LARGE]


def test_three_things_of_middling_weight_are_as_good_as_a_grave_one() -> None:
    text = "Build a plugin system, just in case, and make the list faster"
    made = review((piece("T-1", text),))
    assert made.verdict is Verdict.REVISE
    assert len(list_points(made)) == 3
    assert list_points(review((piece("T-1", "Show the totals"),))) == ()


def read(text: str) -> Review:
    return review_spec(normalize_issue(IssueText("12", "Totals of invoices", text)))


def test_an_issue_is_challenged_like_a_task() -> None:
    assert read("Round exactly.\n\n## Acceptance\n- `total()` is exact").verdict is Verdict.APPROVE
    assert read("Round.\n\n## Acceptance\n- Totals are cached\n- Totals are not cached").verdict is Verdict.REJECT


def test_the_sample_plan_is_approved(tmp_path: Path) -> None:
    plan = parse(sample_plan(), tmp_path / "tasks.json", tmp_path).plan
    assert plan is not None
    assert review_plan(plan).verdict is Verdict.APPROVE


def test_a_large_plan_is_challenged_in_no_time() -> None:
    files = ("src/a.py", "src/b.py")
    pieces = [
        piece(
            f"T-{number}", f"Part {number} of the work\nSee T-{number - 1}", f"thing {number} is {number}", files=files
        )
        for number in range(400)
    ]
    begun = process_time()
    review(pieces)
    assert process_time() - begun < 8


def test_the_forms_stay() -> None:
    first = piece("T-100", "Cache the totals", "they are always up to date", files=("a.py",))
    second = piece("T-2", "Use what T-100 gives", files=("b.py",))
    made = review((first, second))
    triz, told = describe_triz(made), describe_challenge(made)
    assert json.loads(json.dumps([triz, told])) == [triz, told]
    assert list(triz) == [
        "version", "contradictions", "ideality", "resources", "dependency_issues", "recommendations",
        "overall_assessment",
    ]  # fmt: skip
    assert triz["contradictions"][0]["type"] == "technical"
    assert triz["contradictions"][0]["triz_principles"][0]["number"] == 24
    assert triz["dependency_issues"][0]["task_ids"] == ["T-2", "T-100"]
    assert list(told) == [
        "version", "verdict", "summary", "ideality", "challenges", "over_engineering", "missing_risks", "scope_creep",
        "sequencing_errors",
    ]  # fmt: skip
    assert told["challenges"][0] == {
        "kind": "missing_dependency",
        "severity": "high",
        "task_ids": ["T-2", "T-100"],
        "question": "T-2 speaks of `T-100` of T-100, but does not wait for it",
        "alternative": "add T-100 to the dependencies of T-2, or the file to its key_files",
        "triz_principles": [10],
        "found_by": "rules",
    }
