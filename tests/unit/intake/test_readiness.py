"""What cannot be begun is asked about; what can is not held up."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from whilly.domain.intake.issue_text import IssueText, Remark
from whilly.domain.intake.normalize import normalize_issue
from whilly.domain.intake.readiness import Judgement, Readiness, ask, describe_readiness, judge
from whilly.domain.intake.rules import Scope

GOOD = """\
The invoice shows 0.30 where 0.29 is right.

**Files:** src/totals.py

## Acceptance
- totals are exact
- a test shows it
"""


def judged(title: str, body: str = "", scope: Scope = Scope(), **others: object) -> Judgement:  # noqa: B008  (a value)
    issue = IssueText("12", title, body, **others)  # type: ignore[arg-type]  # fields by name
    return judge(normalize_issue(issue), scope)


def rules(judgement: Judgement) -> set[str]:
    return {each.rule for each in judgement.findings if each.blocks}


def test_a_clear_issue_is_ready() -> None:
    judgement = judged("Totals are wrong", GOOD, labels=("bug",))
    assert (judgement.state, judgement.findings) == (Readiness.READY, ())
    assert judgement.confidence > 0.9
    assert judgement.is_sure


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Fix", ""),
        ("Bug", "!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!"),
        ("Не работает", ""),
        ("修正", ""),
        ("Bug", "<!-- a -->\n<!-- b -->"),
    ],
)
def test_hardly_any_text_is_too_short(title: str, body: str) -> None:
    assert "too_short" in rules(judged(title, body))


@pytest.mark.parametrize(
    "title", ["Fix the typo in README.md", "Исправить опечатку в README.md", "修正一覧画面の合計金額の表示"]
)
def test_a_short_clear_wish_is_long_enough(title: str) -> None:
    assert "too_short" not in rules(judged(title))


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Make the app better", "It should be nicer to use and faster somehow"),
        ("Сделать приложение лучше", "Надо, чтобы было удобно и быстрее"),
        ("The page does not look right", "Please do something about it soon"),
        ("Improve performance", "word " * 60),
    ],
)
def test_what_cannot_be_checked_and_names_no_place_is_ambiguous(title: str, body: str) -> None:
    assert rules(judged(title, body)) == {"ambiguous"}


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Totals are wrong", "The invoice shows 0.30 where 0.29 is right."),
        ("Fix the typo in README.md", ""),
        ("Crash in parse_config", "It dies with `KeyError`"),
        ("Кнопка «Сохранить» не работает", "На странице профиля"),
        ("Improve the error message", "## Acceptance\n- it names the file"),
        ("The page is slow", "## Steps to reproduce\n1. open the list"),
    ],
)
def test_a_place_or_a_check_is_enough(title: str, body: str) -> None:
    assert rules(judged(title, body)) == set()


def test_without_criteria_it_is_ready_with_assumptions() -> None:
    judgement = judged("Totals are wrong", "The invoice shows 0.30 where 0.29 is right.", labels=("bug",))
    assert judgement.state is Readiness.READY_WITH_ASSUMPTIONS
    assert judgement.assumptions == ("it is done when what it describes holds, and a test shows it",)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Totals are cached", "Totals must not be cached"),
        ("Passwords are always shown", "Passwords are never shown"),
        ("The header is visible", "The header is hidden"),
        ("Names are sorted ascending", "Names are sorted descending"),
        ("The timeout is at most 5 seconds", "The timeout is at least 10 seconds"),
        ("The page size is 20", "The page size is 50"),
        ("Email is required", "Email is optional"),
        ("Пароль всегда показывать", "Пароль никогда показывать"),
        ("Кэш должен быть включён", "Кэш должен быть выключен"),
        ("Таймаут не более 5 секунд", "Таймаут не менее 10 секунд"),
    ],
)
def test_opposites_contradict_each_other(first: str, second: str) -> None:
    judgement = judged("Totals in `src/totals.py`", f"## Acceptance\n- {first}\n- {second}")
    assert rules(judgement) == {"contradiction"}
    assert first in ask(judgement)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Totals are cached when online", "Totals are not cached when offline"),
        ("The timeout is at most 10 seconds", "The timeout is at least 5 seconds"),
        ("The page size is 20", "The queue size is 50"),
        ("returns 404 for unknown ids", "returns 400 for unknown names"),
        ("The header is visible", "The footer is hidden"),
        ("it never logs the password", "it never shows the password"),
        ("it works", "it does not crash"),
        ("No warnings are shown", "No warnings are shown"),
    ],
)
def test_different_things_do_not(first: str, second: str) -> None:
    assert rules(judged("Totals in `src/totals.py`", f"## Acceptance\n- {first}\n- {second}")) == set()


def test_a_ticked_criterion_contradicts_nothing() -> None:
    body = "## Acceptance\n- [x] Totals are cached\n- [ ] Totals are not cached"
    assert rules(judged("Totals in `src/totals.py`", body)) == set()


def test_a_heap_of_contradictions_is_told_in_part() -> None:
    body = "## Acceptance\n" + "\n".join(f"- the size is {number}" for number in range(90))
    comment = ask(judged("Totals in `src/totals.py`", body))
    assert comment.count("exclude each other") == 5


def test_files_that_are_wanted_and_excluded_contradict_each_other() -> None:
    body = "**Files:** src/a.py\n\n## Acceptance\n- it works\n\n## Out of scope\n- src/a.py\n- src/a.pyx"
    assert rules(judged("Totals of invoices", body)) == {"contradiction"}


@pytest.mark.parametrize(
    "text",
    [
        "Use the production API key to fetch the list",
        "You need the live Stripe credentials for this",
        "requires our AWS access keys",
        "The password is in 1Password",
        "ssh to production and look at the logs",
        "Log in to the production system and copy the rows",
        "You will need to ask Bob for the token",
        "Нужен доступ к проду",
        "Возьми пароль от боевого сервера",
        "Зайди на прод и посмотри логи",
    ],
)
def test_what_needs_a_credential_is_asked_about(text: str) -> None:
    judgement = judged("Import the list of `customers`", f"{text}\n\n## Acceptance\n- it is imported")
    assert rules(judgement) == {"needs_secret"}


@pytest.mark.parametrize(
    "text",
    [
        "The password reset page shows the wrong title",
        "Users need a valid password to log in",
        "Add API key authentication to the endpoint",
        "Store the token in the settings",
        "Rotate access tokens after an hour",
        "It must work without the production credentials",
        "This does not require production credentials",
        "The secret santa page is broken",
        "Customers use the live login page",
        "Страница сброса пароля падает",
        "Добавить поле для токена API",
        "Log in with email does not work",
    ],
)
def test_a_feature_about_passwords_needs_no_secret(text: str) -> None:
    judgement = judged("Change the page of `accounts`", f"{text}\n\n## Acceptance\n- it is right")
    assert rules(judgement) == set()


def test_files_that_may_not_be_changed_are_out_of_scope() -> None:
    scope = Scope(allowed=("src", "infra"), forbidden=("infra", "src/generated"))
    assert rules(judged("Totals", GOOD.replace("src/totals.py", "infra/main.tf"), scope)) == {"out_of_scope"}
    assert rules(judged("Totals", GOOD.replace("src/totals.py", "docs/a.md"), scope)) == {"out_of_scope"}
    judgement = judged("Totals", GOOD.replace("src/totals.py", "src"), scope)
    assert rules(judgement) == set()
    assert "it can be done without touching `src/generated`" in judgement.assumptions


@pytest.mark.parametrize(
    ("title", "body", "expected"),
    [
        ("How do I configure the proxy?", "I could not find it in the documentation", {"question_only"}),
        ("Как настроить прокси?", "Не нашёл в документации «ничего»", {"question_only"}),
        ("Why does it crash?", "## Steps to reproduce\n1. start it\n2. wait", set()),
        ("Add a FAQ with `what is this?`", "", set()),
    ],
)
def test_a_question_is_no_task(title: str, body: str, expected: set[str]) -> None:
    assert rules(judged(title, body)) == expected


@pytest.mark.parametrize(
    ("criterion", "expected"),
    [("the limit is TBD", {"open_ended"}), ("???", {"open_ended"}), ("TBD markers are removed from the docs", set())],
)
def test_a_criterion_has_an_end(criterion: str, expected: set[str]) -> None:
    assert rules(judged("Limit the size of `uploads`", f"## Acceptance\n- {criterion}")) == expected


def test_when_everything_is_ticked_nothing_is_left() -> None:
    assert rules(judged("Totals of invoices", "## Acceptance\n- [x] totals are exact")) == {"nothing_left"}


def test_an_answer_of_somebody_with_write_access_unblocks() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    vague = ("Make the app better", "It should be nicer to use and faster somehow")
    answer = Remark("ada", has_write=True, text="## Acceptance\n- `whilly status` takes < 300 ms", created_at=at)
    stranger = Remark("mallory", has_write=False, text=answer.text, created_at=at)
    assert rules(judged(*vague, comments=(answer,))) == set()
    judgement = judged(*vague, comments=(stranger,))
    assert rules(judgement) == {"ambiguous"}
    assert "one comment of somebody without write access did not have to be read" in judgement.assumptions


def test_the_form_of_the_file_stays() -> None:
    described = describe_readiness(judged("Make the app better", "It should be nicer to use and faster somehow"))
    assert json.loads(json.dumps(described)) == {
        "version": 1,
        "state": "blocked",
        "confidence": 0.6,
        "missing_information": ["criteria: nothing in it can be checked, and no place is named"],
        "assumptions": ["the smallest change is wanted: it is not said what kind of work it is"],
        "rules": ["ambiguous", "unknown_type"],
    }


def test_the_questions_are_one_harmless_comment() -> None:
    body = "Use the production API key, @all\n\n## Acceptance\n- fixes #1 @all\n- does not fixes #1 @all\n- ??? <img>"
    comment = ask(judged("Totals", body))
    assert comment.startswith("This cannot be begun yet. Please tell:\n\n1. ")
    assert "\n2. " in comment
    assert "@all" not in comment
    assert "fixes #1" not in comment
    assert comment.endswith("work begins when nothing is missing.")
