"""What the ends of attempts say about the account that they used."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from whilly.domain.attempt import AttemptResult, Outcome
from whilly.domain.flow.account import LEAST_PAUSE, PAUSES, Account, learn

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
FREE = Account("claude")


def limited(retry_at: datetime | None = None) -> AttemptResult:
    return AttemptResult(Outcome.LIMITED, "limit", retry_at=retry_at)


def test_a_reset_is_waited_for_to_the_second() -> None:
    reset = NOON + timedelta(hours=5)
    account = learn(FREE, limited(reset), NOON, NOON)
    assert account == Account("claude", 1, NOON, reset, "limit")
    assert account.is_limited(reset - timedelta(seconds=1))
    assert not account.is_limited(reset)


def test_a_reset_in_the_past_is_a_wrong_clock() -> None:
    assert learn(FREE, limited(NOON - timedelta(hours=1)), NOON, NOON).until == NOON + LEAST_PAUSE


def test_a_limit_without_a_time_is_left_alone_for_longer_each_time() -> None:
    account, now, pauses = FREE, NOON, []
    for _ in range(len(PAUSES) + 2):
        account = learn(account, limited(), now, now)
        assert account.until is not None
        pauses.append(account.until - now)
        now = account.until
    assert pauses == [*PAUSES, PAUSES[-1], PAUSES[-1]]


def test_a_service_that_always_says_a_second_is_not_asked_every_second() -> None:
    account, now, asked = FREE, NOON, 0
    while now < NOON + timedelta(hours=37):
        account = learn(account, limited(now + timedelta(seconds=1)), now, now)
        asked += 1
        assert account.until is not None
        now = account.until
    assert asked < 50


def test_attempts_that_were_under_way_meet_the_same_limit_and_count_once() -> None:
    first = learn(FREE, limited(), NOON - timedelta(minutes=1), NOON)
    second = learn(first, limited(), NOON - timedelta(minutes=2), NOON + timedelta(seconds=1))
    assert (second.strikes, second.until) == (1, first.until)
    reset = NOON + timedelta(hours=1)
    assert learn(first, limited(reset), NOON - timedelta(minutes=2), NOON + timedelta(seconds=1)).until == reset


@pytest.mark.parametrize("outcome", [Outcome.COMPLETED, Outcome.NO_PROGRESS, Outcome.ASKED])
def test_an_answer_lifts_the_limit_unless_it_was_asked_for_before(outcome: Outcome) -> None:
    account = learn(FREE, limited(), NOON, NOON)
    answer = AttemptResult(outcome)
    assert learn(account, answer, NOON - timedelta(seconds=1), NOON + timedelta(minutes=1)) == account
    assert learn(account, answer, NOON + timedelta(seconds=5), NOON + timedelta(minutes=1)) == FREE


@pytest.mark.parametrize(
    "result",
    [
        AttemptResult(Outcome.CRASHED),
        AttemptResult(Outcome.UNAVAILABLE),
        AttemptResult(Outcome.INTERRUPTED, is_deliberate=True),
        AttemptResult(Outcome.COMPLETED, is_deliberate=True),
    ],
)
def test_an_end_that_says_nothing_changes_nothing(result: AttemptResult) -> None:
    account = learn(FREE, limited(), NOON, NOON)
    assert learn(account, result, NOON + timedelta(hours=1), NOON + timedelta(hours=2)) == account
