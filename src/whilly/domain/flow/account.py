"""An agent's account: its usage limit is a fact about all its tasks, and no failure of any of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from whilly.domain.attempt import Outcome

if TYPE_CHECKING:
    from whilly.domain.attempt import AttemptResult

LEAST_PAUSE = timedelta(seconds=5)
"""How long an account is left alone at least: a reset in the past is a clock that is wrong."""

PAUSES = (
    LEAST_PAUSE,
    timedelta(seconds=30),
    timedelta(minutes=2),
    timedelta(minutes=5),
    timedelta(minutes=15),
    timedelta(minutes=30),
    timedelta(hours=1),
)
"""How long it is left alone at least, by how often in a row its limit was met."""

ANSWERED = frozenset({Outcome.COMPLETED, Outcome.NO_PROGRESS, Outcome.ASKED, Outcome.CONFLICT})
"""Outcomes that show that the account's service does its work."""


@dataclass(frozen=True, slots=True)
class Account:
    """What is known of an account's limit.

    Attributes:
        name: of the agent that uses it.
        strikes: how often in a row its limit was met.
        since: when that was last.
        until: no attempt of it starts earlier; None when it never was limited, or works again.
    """

    name: str
    strikes: int = 0
    since: datetime | None = None
    until: datetime | None = None
    reason: str = ""

    def is_limited(self, now: datetime) -> bool:
        """Whether nothing of it may start now."""
        return self.until is not None and self.until > now


def learn(account: Account, result: AttemptResult, began: datetime, now: datetime) -> Account:
    """What an attempt's end says about the account that it used.

    Attempts that were under way when a limit was met meet the same one: together they count once, and one that gets
    through nevertheless does not lift it.
    """
    is_news = account.since is None or began >= account.since
    if result.outcome is Outcome.LIMITED:
        return _limit(account, result, now, is_news=is_news)
    if result.outcome in ANSWERED and not result.is_deliberate and is_news:
        return Account(account.name)
    return account


def _limit(account: Account, result: AttemptResult, now: datetime, *, is_news: bool) -> Account:
    said = result.retry_at or now
    reason = result.reason or "usage limit reached"
    if not is_news and account.until is not None:
        return replace(account, until=max(said, account.until), reason=reason)
    strikes = account.strikes + 1
    # A service that refuses again as soon as its own time is over is left alone for longer each time.
    until = max(said, now + PAUSES[min(strikes, len(PAUSES)) - 1])
    return Account(account.name, strikes, now, until, reason)
