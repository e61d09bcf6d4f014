"""An idea has words and a name; an interview asks for what only its author knows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whilly.domain.errors import RuleViolation
from whilly.domain.prd.document import SLUG_LENGTH
from whilly.domain.prd.idea import MAX_CHARACTERS, take_idea
from whilly.domain.prd.interview import QUESTIONS, Answers, accepts, find_next, tell_answers


def test_an_idea_names_its_files_after_its_first_line() -> None:
    idea = take_idea("\n  A page of totals\x1b[2J!\nfor accountants\n")
    assert (idea.text, idea.slug) == ("A page of totals!\nfor accountants", "a-page-of-totals")
    assert (idea.document, idea.plan) == ("docs/PRD-a-page-of-totals.md", ".planning/a-page-of-totals_tasks.json")


@pytest.mark.parametrize(
    ("words", "slug"),
    [
        ("word " * 1000, "word-" * 9 + "word"),
        ("a" * 60, "a" * SLUG_LENGTH),
        ("Страница итогов", "stranitsa-itogov"),
        ("$(id); ../../x", "id-x"),
        ("…\n1", "idea"),
    ],
)
def test_the_name_is_short_and_has_whole_words(words: str, slug: str) -> None:
    assert take_idea(words).slug == slug


@pytest.mark.parametrize("words", ["", " \n", "\u200b", "… !", "x" * (MAX_CHARACTERS + 1)])
def test_what_says_nothing_or_too_much_is_no_idea(words: str) -> None:
    with pytest.raises(RuleViolation) as caught:
        take_idea(words)
    assert caught.value.remedy


@given(st.text(min_size=1, max_size=300))
def test_the_name_is_harmless_whatever_the_words(words: str) -> None:
    try:
        slug = take_idea(words).slug
    except RuleViolation:
        return
    assert slug.strip("-") == slug
    assert 0 < len(slug) <= SLUG_LENGTH
    assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_every_question_is_put_once_and_only_what_is_required_wants_an_answer() -> None:
    answers: Answers = {}
    asked = []
    while question := find_next(answers):
        asked.append(question.key)
        assert accepts(question, ()) is not question.is_required
        assert accepts(question, ("a word",))
        answers[question.key] = ("a word",) if question.is_required else ()
    assert asked == [each.key for each in QUESTIONS]
    assert tell_answers(answers) == ("a word\n\nThe problem:\n- a word\n\nWhat must be true when it is done:\n- a word")
    assert not accepts(QUESTIONS[0], ("…",))
