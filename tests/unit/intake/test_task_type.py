"""The kind of work is read from what says it most clearly."""

from __future__ import annotations

import pytest

from whilly.domain.intake.task_type import TaskType, classify

BUGFIX, FEATURE, REFACTOR, DOCS, UNKNOWN = TaskType


@pytest.mark.parametrize(
    ("title", "body", "labels", "task_type", "confidence"),
    [
        ("x", "", ["bug"], BUGFIX, 0.95),
        ("x", "", ["kind/bug"], BUGFIX, 0.95),
        ("x", "", ["type: enhancement"], FEATURE, 0.95),
        ("x", "", ["Tech Debt"], REFACTOR, 0.95),
        ("x", "", ["документация"], DOCS, 0.95),
        ("Fix it", "", ["enhancement"], FEATURE, 0.95),
        ("x", "", ["bug", "documentation"], DOCS, 0.5),
        ("x", "", ["bug", "enhancement"], BUGFIX, 0.5),
        ("x", "", ["debugger"], UNKNOWN, 0.0),
        ("fix(totals): rounding", "", [], BUGFIX, 0.85),
        ("[BUG] rounding", "", [], BUGFIX, 0.85),
        ("feat!: rounding", "", [], FEATURE, 0.85),
        ("Rounding", "Traceback (most recent call last):\n…", [], BUGFIX, 0.8),
        ("Totals crash on empty invoices", "", [], BUGFIX, 0.7),
        ("Add a dark theme", "", [], FEATURE, 0.7),
        ("Rename Totals to Sums", "", [], REFACTOR, 0.7),
        ("Typos in the README", "", [], DOCS, 0.7),
        ("Добавить тёмную тему", "", [], FEATURE, 0.7),
        ("Приложение падает при входе", "", [], BUGFIX, 0.7),
        ("Отрефакторить модуль оплаты", "", [], REFACTOR, 0.7),
        ("Add a fix for rounding", "", [], UNKNOWN, 0.0),
        ("Totals", "It would be nice to see them in EUR", [], FEATURE, 0.4),
        ("Something else", "", [], UNKNOWN, 0.0),
    ],
)
def test_a_kind_is_found(title: str, body: str, labels: list[str], task_type: TaskType, confidence: float) -> None:
    found = classify(title, body, labels)
    assert (found.task_type, found.confidence) == (task_type, confidence)
    assert found.evidence


def test_what_the_tracker_calls_it_counts_like_a_label() -> None:
    assert classify("x", "", [], "Bug").evidence == ("type `Bug` in the tracker",)


def test_the_form_of_a_report_says_what_it_is() -> None:
    assert classify("Totals", "", [], is_report=True).task_type is BUGFIX
