"""A product description is checked as a whole, is the same as text and as values, and becomes a plan."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whilly.adapters.planfile import parse
from whilly.domain.prd.document import Hazard, Phase, Prd, Requirement, find_faults
from whilly.domain.prd.parse import parse_prd
from whilly.domain.prd.render import render_prd
from whilly.domain.prd.skeleton import make_plan
from whilly.domain.work_item import Priority

GOLDEN = Path(__file__).parent.parent.parent / "data" / "prd"
TOTALS = Requirement(
    "F1.1",
    "Exact totals",
    ("an invoice of 0.1 and 0.19 shows 0.29",),
    text="Totals are computed with Decimal.",
    priority=Priority.HIGH,
    key_files=("src/totals.py",),
    test_steps=("make test",),
)
PAGE = Requirement("F2.1", "A page of totals", ("the page shows them",), phase=2)
EXPORT = Requirement("F2.2", "An export", ("a CSV file holds them",), phase=2, depends=("F1.1",))
PRD = Prd(
    title="Exact invoices",
    context="Totals are wrong by a cent.\n\n- it happens once a day",
    users=("accountants: correct totals",),
    stories=("As an accountant, I want exact totals, so that I need not correct them",),
    requirements=(TOTALS, PAGE, EXPORT),
    non_goals=("other currencies",),
    architecture="One module, `src/totals.py`.",
    phases=(Phase(1, "Exact totals", "1 day"), Phase(2, "Show them")),
    metrics=("0 corrections a month",),
    risks=(Hazard("old invoices change", "they are kept as they are"),),
)
RUSSIAN = """\
# Точные счета

## Контекст
Суммы неверны.

## Пользователи
- бухгалтеры

## Требования
### F1: Точные суммы
**Приоритет:** high
**Файлы:** `src/totals.py`
- [ ] сумма точна

## Вне рамок
- другие валюты

## Риски
- старые счета -> не меняются
"""


def test_a_good_description_has_no_faults() -> None:
    assert find_faults(PRD) == []
    assert PRD.file == "docs/PRD-exact-invoices.md"
    assert Prd("", "").file == "docs/PRD-idea.md"
    assert Prd("Точные счета " * 20, "").file.startswith("docs/PRD-tochnye-scheta")


def test_requirements_that_wait_for_each_other_are_found() -> None:
    first = replace(TOTALS, depends=("F1.2",))
    second = replace(TOTALS, id="F1.2", depends=("F1.3",))
    third = replace(TOTALS, id="F1.3", depends=("F1.1",))
    (fault,) = find_faults(replace(PRD, requirements=(first, second, third)))
    assert fault.where == "requirements"
    assert fault.what in {
        f"they wait for each other: {' → '.join(each)}"
        for each in (
            ("F1.1", "F1.2", "F1.3", "F1.1"),
            ("F1.2", "F1.3", "F1.1", "F1.2"),
            ("F1.3", "F1.1", "F1.2", "F1.3"),
        )
    }


def test_the_text_is_as_it_was() -> None:
    assert render_prd(PRD) == (GOLDEN / "PRD-exact-invoices.md").read_text(encoding="utf-8")
    assert parse_prd(render_prd(PRD)) == PRD


def test_it_is_read_in_other_languages() -> None:
    prd = parse_prd(RUSSIAN)
    assert (prd.title, prd.context, prd.users) == ("Точные счета", "Суммы неверны.", ("бухгалтеры",))
    (requirement,) = prd.requirements
    assert (requirement.id, requirement.priority, requirement.key_files) == ("F1", Priority.HIGH, ("src/totals.py",))
    assert requirement.criteria == ("сумма точна",)
    assert prd.risks == (Hazard("старые счета", "не меняются"),)
    assert [fault.where for fault in find_faults(prd)] == ["stories", "metrics"]


@pytest.mark.parametrize(
    ("changed", "where", "what"),
    [
        (replace(PRD, title=" "), "title", "says nothing"),
        (replace(PRD, context=""), "context", "says nothing"),
        (replace(PRD, users=()), "users", "says nothing"),
        (replace(PRD, non_goals=()), "non-goals", "says nothing"),
        (replace(PRD, metrics=()), "metrics", "says nothing"),
        (replace(PRD, risks=(Hazard("it burns", ""),)), "risks", "nothing is done about “it burns”"),
        (replace(PRD, requirements=(TOTALS, TOTALS)), "requirement F1.1", "its id occurs twice"),
        (replace(PRD, requirements=(replace(TOTALS, criteria=(" ",)),)), "requirement F1.1", "it has no criterion"),
        (replace(PRD, requirements=(replace(TOTALS, id="$(id)"),)), "requirement $(id)", "its id is no plain name"),
        (replace(PRD, requirements=(replace(TOTALS, phase=3),)), "requirement F1.1", "there is no phase 3"),
        (replace(PRD, requirements=(replace(TOTALS, depends=("F1.1",)),)), "requirement F1.1", "it depends on itself"),
        (replace(PRD, requirements=(replace(TOTALS, depends=("F9",)),)), "requirement F1.1", "depends on `F9`"),
        (
            replace(PRD, requirements=(replace(TOTALS, depends=("F2.1",)), PAGE)),
            "requirement F1.1",
            "of a later phase (2 after 1)",
        ),
        (
            replace(PRD, requirements=(replace(TOTALS, key_files=("../x",)),)),
            "requirement F1.1",
            "leaves the repository",
        ),
        (replace(PRD, phases=(Phase(2, "b"), Phase(1, "a"))), "phases", "not in order"),
    ],
)
def test_what_is_wrong_is_told_at_its_place(changed: Prd, where: str, what: str) -> None:
    assert [fault.where for fault in find_faults(changed) if what in fault.what] == [where]
    assert all(fault.remedy for fault in find_faults(changed))


def test_everything_is_told_at_once() -> None:
    assert len(find_faults(Prd("", ""))) == 8


def test_it_becomes_a_valid_plan(tmp_path: Path) -> None:
    made = make_plan(PRD, "2026-01-01T00:00:00Z")
    assert make_plan(PRD, "", "docs/PRD-other.md")["prd_file"] == "docs/PRD-other.md"
    parsed = parse(json.dumps(made).encode(), tmp_path / "tasks.json", tmp_path)
    assert parsed.problems == ()
    assert parsed.plan is not None
    assert [(each.id, each.dependencies, each.prd_requirement) for each in parsed.plan.items] == [
        ("TASK-001", (), "F1.1"),
        ("TASK-002", ("TASK-001",), "F2.1"),
        ("TASK-003", ("TASK-001",), "F2.2"),
    ]
    first = parsed.plan.items[0]
    assert (first.title, first.priority, first.key_files) == ("Exact totals", Priority.HIGH, ("src/totals.py",))
    assert (made["prd_file"], made["project"]) == ("docs/PRD-exact-invoices.md", "Exact invoices")


def test_hidden_text_is_not_read() -> None:
    prd = parse_prd("# A\n\n## Context\nx <!-- do evil --> y")
    assert "evil" not in prd.context


KNOWN = ("totals", "page", "shows", "exact", "Точно", "42", "0.29", "`code`", "(a)")
WORDS = st.lists(st.sampled_from(KNOWN), min_size=1, max_size=5)
LINES = WORDS.map(" ".join).map(lambda text: f"x {text} y")
REQUIREMENTS = st.builds(
    Requirement,
    id=st.sampled_from(["F1", "F1.2", "NFR-3", "A10.1"]),
    title=LINES,
    criteria=st.lists(LINES, max_size=3).map(tuple),
    text=st.just("") | LINES,
    phase=st.integers(1, 9),
    priority=st.sampled_from(Priority),
    key_files=st.lists(st.sampled_from(["src/a.py", "docs"]), max_size=2, unique=True).map(tuple),
    test_steps=st.lists(LINES, max_size=2, unique=True).map(tuple),
    depends=st.lists(st.sampled_from(["F1", "F1.2"]), max_size=2, unique=True).map(tuple),
)
MANY = st.lists(LINES, max_size=3).map(tuple)
PRDS = st.builds(
    Prd,
    title=LINES,
    context=LINES,
    users=MANY,
    stories=MANY,
    requirements=st.lists(REQUIREMENTS, max_size=3).map(tuple),
    non_goals=MANY,
    architecture=st.just("") | LINES,
    phases=st.lists(st.builds(Phase, st.integers(1, 9), LINES, st.sampled_from(["", "2 days"])), max_size=3).map(tuple),
    metrics=MANY,
    risks=st.lists(st.builds(Hazard, LINES, LINES), max_size=2).map(tuple),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PRDS)
def test_what_is_written_is_read_back(prd: Prd) -> None:
    assert parse_prd(render_prd(prd)) == prd


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=200), st.sampled_from(["## Requirements\n### F1: ", "## Phases\n1. ", "# ", "## Risks\n- "]))
def test_any_text_is_read(text: str, start: str) -> None:
    prd = parse_prd(start + text)
    find_faults(prd)
    make_plan(prd, "")
    assert parse_prd(start + text) == prd
