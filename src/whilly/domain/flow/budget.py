"""Money: reserved before it is spent, settled when it is known, never forgotten."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from whilly.domain.attempt import Usage, add_usage

WARN_SHARE = Decimal("0.8")
"""The share of a budget at which people are told, once."""


@dataclass(frozen=True, slots=True)
class Spend:
    """What a plan has cost so far, in USD.

    Attributes:
        settled: attempts that have ended; one of unknown cost counts as its reservation.
        reserved: attempts under way.
    """

    settled: Decimal = Decimal(0)
    reserved: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Purse:
    """One cap and what counts against it.

    Attributes:
        name: what the cap is for: `plan`, `task`, `day`, `project`.
        cap: USD; None is no limit.
        remedy: what lets work go on when it is spent.
    """

    name: str
    cap: Decimal | None
    spend: Spend
    remedy: str = ""

    @property
    def is_exhausted(self) -> bool:
        """Whether the money is gone: then nothing new starts from it, and what is running is ended."""
        return is_exhausted(self.cap, self.spend)

    def grant(self, wanted: Decimal) -> Decimal | None:
        """What may be reserved for one more attempt, as `grant` says."""
        return grant(self.cap, self.spend, wanted)


@dataclass(frozen=True, slots=True)
class Booked:
    """What the attempts in one session were booked with.

    Attributes:
        usage: as far as they told it.
        deposit: USD that stand for those of which nothing is known, since the last one that told its tokens. A CLI that
            counts over the whole session tells theirs with its own; then that much of it is booked already.
    """

    usage: Usage = field(default_factory=Usage)
    deposit: Decimal = Decimal(0)

    def add(self, usage: Usage | None, settled: Decimal) -> Booked:
        """With one more attempt, which counts as `settled`."""
        if usage is None:
            return Booked(self.usage, self.deposit + settled)
        return Booked(add_usage(self.usage, usage), Decimal(0) if any(usage.tokens) else self.deposit)


def grant(cap: Decimal | None, spend: Spend, wanted: Decimal) -> Decimal | None:
    """What may be reserved for one more attempt: `wanted`, or what is left of the cap.

    Returns:
        None when nothing is left beside the reservations of the attempts under way: the attempt has to wait for them.
    """
    if cap is None:
        return wanted
    left = cap - spend.settled - spend.reserved
    return min(wanted, left) if left > 0 else None


def is_exhausted(cap: Decimal | None, spend: Spend) -> bool:
    """Whether the money is gone: then nothing new starts, and what is running is ended."""
    return cap is not None and spend.settled >= cap


def is_worth_a_warning(cap: Decimal | None, spend: Spend) -> bool:
    """Whether people should be told that the money is nearly gone."""
    return cap is not None and spend.settled >= cap * WARN_SHARE


BELIEVABLE = Decimal(1_000_000)
"""USD. What claims to have cost more than this, or less than nothing, did not say what it cost."""


def is_known(cost: Decimal | None) -> bool:
    """Whether a reported cost says anything."""
    return cost is not None and cost.is_finite() and 0 <= cost <= BELIEVABLE


def settle(reserved: Decimal, cost: Decimal | None) -> Decimal:
    """What an ended attempt counts: its cost, or its reservation when nobody knows."""
    return cost if cost is not None and is_known(cost) else reserved
