"""What a sandbox may spend: the worst case is set aside before a request goes out, and settled afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, final

from whilly.domain.attempt import Usage, add_usage
from whilly.domain.price import MILLION, Price, find_price

if TYPE_CHECKING:
    from collections.abc import Mapping

LEAST_OUTPUT = 1024
"""Tokens of output below which a request is not worth sending."""
ADDED_TOKENS = 1000
"""What services put before a request that uses tools, at most."""
BYTES_PER_TOKEN = 2
"""Text has three to four bytes for each token; half of that is the worst that was seen."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """Money set aside for one request.

    Attributes:
        output: tokens of output that it covers.
    """

    price: Price | None
    amount: Decimal
    output: int


@final
class Budget:
    """One sandbox's money.

    Args:
        limit: None is none; then everything is only counted.
        prices: by model. One that is not there is taken for the dearest while it runs, and its cost is not known.
    """

    def __init__(self, limit: Decimal | None, prices: Mapping[str, Price]) -> None:
        self._limit = limit
        self._prices = prices
        self._spent = Decimal(0)
        self._reserved = Decimal(0)
        self._open = 0
        self._usage: Usage | None = None
        self._is_priced = True
        self.is_over = False
        """A request was refused because there was no money for it."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is set aside: no request is on its way."""
        return self._open == 0

    @property
    def usage(self) -> Usage | None:
        """What was used so far; without a cost when a model had no price."""
        return self._usage

    @property
    def spent(self) -> Decimal:
        """What counts as spent so far."""
        return self._spent

    def reserve(self, model: str, size: int, output: int) -> Reservation | None:
        """Set aside what a request can cost; None when there is not enough for a useful answer.

        Args:
            model: its name.
            size: bytes of the request.
            output: tokens of output that it asks for; the reservation may cover fewer.
        """
        price = find_price(self._prices, model)
        rates = price or self._dearest()
        if rates is None:
            self._open += 1
            return Reservation(None, Decimal(0), output)
        before = max(rates.input, rates.cache_write or Decimal(0)) * (ADDED_TOKENS + size // BYTES_PER_TOKEN) / MILLION
        each = rates.output / MILLION
        if self._limit is not None:
            left = self._limit - self._spent - self._reserved - before
            affordable = int(left / each) if each and left > 0 else (output if left >= 0 else 0)
            if affordable < min(output, LEAST_OUTPUT):
                self.is_over = True
                return None
            output = min(output, affordable)
        made = Reservation(price, before + each * output, output)
        self._reserved += made.amount
        self._open += 1
        return made

    def settle(self, reservation: Reservation, usage: Usage | None) -> None:
        """Put the true cost in the reservation's place; without a word of usage, the reservation stands."""
        self.release(reservation)
        if usage is None:
            self._spent += reservation.amount
            self._is_priced = self._is_priced and reservation.price is not None
            used = Usage(cost_usd=reservation.amount, turns=1)
        else:
            rates = reservation.price or self._dearest()
            cost = rates.charge(usage) if rates else Decimal(0)
            self._spent += cost
            used = Usage(cost, *usage.tokens, usage.turns)
        self._is_priced = self._is_priced and reservation.price is not None
        total = used if self._usage is None else add_usage(self._usage, used)
        self._usage = total if self._is_priced else Usage(None, *total.tokens, total.turns)

    def release(self, reservation: Reservation) -> None:
        """The request cost nothing: it was refused, or never arrived."""
        self._open -= 1
        self._reserved -= reservation.amount

    def _dearest(self) -> Price | None:
        return max(self._prices.values(), key=lambda price: price.output, default=None)
