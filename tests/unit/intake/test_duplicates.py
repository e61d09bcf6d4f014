"""What is being done, or was done of late, is not begun again; and nobody can keep work from being begun."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from whilly.domain.forge.issue import Comment, Issue, IssueState, Permission, Person
from whilly.domain.forge.pull_request import Mergeable, PullRef, PullRequest, PullState
from whilly.domain.forge.reference import IssueRef
from whilly.domain.ids import CommitId
from whilly.domain.intake.duplicates import compare_titles, find_duplicates
from whilly.domain.intake.issue_text import read_issue
from whilly.domain.intake.normalize import normalize_issue
from whilly.domain.text.neutralize import neutralize
from whilly.domain.work_item import Priority

AT = datetime(2026, 1, 1, tzinfo=UTC)
REF = IssueRef("github", "owner/repo", "12")
URL = "https://forge.example/owner/repo/issues/12"
TITLE = "Totals of invoices are wrong"
ADA = Person("1", "ada")
ISSUE = Issue(REF, TITLE, "text", ADA, Permission.READ, IssueState.OPEN, "Open", URL, AT, AT)


def pull(number: int = 40, **others: object) -> PullRequest:
    facts: dict[str, Any] = {
        "ref": PullRef("github", "owner/repo", number),
        "title": "Something else entirely",
        "body": "",
        "author": ADA,
        "state": PullState.OPEN,
        "is_draft": False,
        "mergeable": Mergeable.UNKNOWN,
        "head_branch": "topic",
        "head_commit": CommitId("a" * 40),
        "base_branch": "main",
        "url": "",
        "updated_at": AT,
        "head_repository": "owner/repo",
    }
    return PullRequest(**(facts | others))


@pytest.mark.parametrize(
    "facts",
    [
        {"body": "Closes #12"},
        {"body": "text\n\nfixes: #12, and more"},
        {"body": "Resolves owner/repo#12."},
        {"body": f"closes {URL}"},
        {"title": "Fix #12"},
        {"head_branch": "whilly/issue-12-totals"},
        {"head_branch": "whilly/issue-12"},
        {"body": "Closes #12", "state": PullState.MERGED},
    ],
)
def test_the_same_change_is_certain(facts: dict[str, Any]) -> None:
    (found,) = find_duplicates(ISSUE, [pull(**facts)])
    assert found.is_certain
    assert found.reasons[0].startswith("owner/repo#40 (")


@pytest.mark.parametrize(
    "facts",
    [
        {"title": "Rounding (#12)"},
        {"head_branch": "fix/12-rounding"},
        {"head_branch": "issue_12"},
        {"title": "fix(totals): Totals of the invoices are wrong"},
        {"title": "Total of invoice is wrong"},
        {"body": "Closes #12", "head_repository": "mallory/repo"},
    ],
)
def test_what_looks_alike_is_possible(facts: dict[str, Any]) -> None:
    (found,) = find_duplicates(ISSUE, [pull(**facts)])
    assert not found.is_certain


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"body": "Closes #123"},
        {"body": "Closes other/repo#12"},
        {"body": "mentions #12"},
        {"body": neutralize("Closes #12")},
        {"body": "Closes #12", "state": PullState.CLOSED},
        {"body": "Closes #12", "state": PullState.MERGED, "updated_at": AT - timedelta(days=90)},
        {"body": "Closes #12", "key": "run-1"},
        {"head_branch": "whilly/issue-123-totals"},
        {"head_branch": "release-1.12.0"},
        {"title": "Totals of orders are shown"},
    ],
)
def test_everything_else_is_none(facts: dict[str, Any]) -> None:
    since = AT - timedelta(days=30)
    assert find_duplicates(ISSUE, [pull(**facts)], own="run-1", merged_since=since) == []


def test_the_surest_comes_first_and_the_order_of_the_list_does_not_count() -> None:
    pulls = [pull(1, title="Rounding (#12)"), pull(2, body="Closes #12"), pull(3), pull(4, head_branch="12-x")]
    found = find_duplicates(ISSUE, pulls)
    assert [each.pull.ref.number for each in found] == [2, 1, 4]
    assert find_duplicates(ISSUE, pulls[::-1]) == found


def test_an_issue_of_another_tracker_is_known_by_its_key() -> None:
    ref = IssueRef("jira", "ABC", "ABC-12")
    pulls = [pull(1, title="ABC-12: totals"), pull(2, title="ABC-123: totals"), pull(3, body="Closes ABC-12")]
    assert [each.pull.ref.number for each in find_duplicates(replace(ISSUE, ref=ref, url=""), pulls)] == [3, 1]


@pytest.mark.parametrize(
    ("first", "second", "are_alike"),
    [
        ("Кнопка «Сохранить» не работает", "кнопка сохранить не работает", True),
        ("Fix the bug", "Fix the bug", False),
        ("Add a dark theme to settings", "Add a light theme to settings", False),
        ("", "", False),
    ],
)
def test_titles_are_compared_by_their_words(first: str, second: str, *, are_alike: bool) -> None:
    assert (compare_titles(first, second) >= 0.8) is are_alike


def test_an_issue_of_a_tracker_is_read() -> None:
    def comment(name: str, permission: Permission, key: str = "") -> Comment:
        return Comment(name, Person(name, name), permission, f"{name} says", AT, AT, key=key)

    comments = (
        comment("ada", Permission.WRITE),
        comment("bob", Permission.READ),
        comment("eve", Permission.UNKNOWN),
        comment("whilly", Permission.WRITE, key="run-1/ask"),
    )
    issue = replace(ISSUE, labels=("bug",), priority="Highest", comments=comments)
    assert not read_issue(issue).is_trusted
    assert read_issue(replace(issue, permission=Permission.WRITE)).is_trusted
    spec = normalize_issue(read_issue(issue, released={"eve"}))
    assert [each.author for each in spec.comments] == ["ada", "eve"]
    assert (spec.withheld, spec.priority, spec.url) == (1, Priority.CRITICAL, URL)
