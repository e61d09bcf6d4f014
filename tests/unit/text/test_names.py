"""Branches can be made of any title."""

from __future__ import annotations

import pytest

from whilly.domain.errors import RuleViolation
from whilly.domain.text.names import name_branch


@pytest.mark.parametrize(
    ("title", "branch"),
    [
        ("Totals are wrong", "whilly/issue-12-totals-are-wrong"),
        ("Кнопка «Сохранить» не работает", "whilly/issue-12-knopka-sokhranit-ne-rabotaet"),
        ("../../etc/passwd", "whilly/issue-12-etc-passwd"),
        ("-rf --upload-pack=x $(id) `id`", "whilly/issue-12-rf-upload-pack-x-id-id"),
        ("a\nb\0c", "whilly/issue-12-a-b-c"),
        ("\N{ROCKET}\N{ROCKET}", "whilly/issue-12"),
        ("", "whilly/issue-12"),
        ("日本語のバグ", "whilly/issue-12-ribenyunobagu"),
        ("\u202egnp.exe", "whilly/issue-12-gnp-exe"),
        ("x" * 500, "whilly/issue-12-" + "x" * 36),
        ("fix the long title that goes on beyond the end", "whilly/issue-12-fix-the-long-title-that-goes-on"),
        ("release.lock", "whilly/issue-12-release-lock"),
    ],
)
def test_a_branch_says_what_it_is_about(title: str, branch: str) -> None:
    assert name_branch("12", title) == branch


@pytest.mark.parametrize("key", ["ET-12\n", "../ET-1", "ET-0", "et-1", "0", "", "-1", "12 ", "1" * 30, "٣"])
def test_what_is_no_key_names_no_branch(key: str) -> None:
    with pytest.raises(RuleViolation, match="is no key of an issue"):
        name_branch(key, "title")


def test_a_key_of_another_tracker_names_a_branch() -> None:
    assert name_branch("ABC-12", "Title") == "whilly/issue-ABC-12-title"
    assert len(name_branch("A" * 20 + "-" + "9" * 10, "a title")) <= 52


def test_a_title_that_is_cut_between_two_words_keeps_the_first() -> None:
    words = f"{'a' * 17} {'b' * 17}"
    for title in (words, f"{words} c", f"{words} {'c' * 40}"):
        assert name_branch("12", title) == f"whilly/issue-12-{words.replace(' ', '-')}"
    assert name_branch("12", f"{words}b") == f"whilly/issue-12-{words.replace(' ', '-')}b"
    assert name_branch("12", f"{words}bb") == f"whilly/issue-12-{'a' * 17}"
