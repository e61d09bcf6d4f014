"""What tokens cost, where an agent CLI says how many it used and not what they cost."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.attempt import Usage

MILLION = Decimal(1_000_000)
_SNAPSHOT = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8})$")
"""Providers put the date of a model's version at the end of its name; versions of one model cost the same."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens of each kind.

    Attributes:
        cache_read: None costs like other input.
        cache_write: None costs like other input.
        as_of: the day on which this was the provider's list price; empty when nobody said.
        source: where that was read.
    """

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None
    as_of: str = ""
    source: str = ""

    def charge(self, usage: Usage) -> Decimal:
        """What these tokens cost, to a billionth of a dollar."""
        rates = (
            self.input,
            self.output,
            self.input if self.cache_read is None else self.cache_read,
            self.input if self.cache_write is None else self.cache_write,
        )
        amounts = (count * rate for count, rate in zip(usage.tokens, rates, strict=True))
        return round(sum(amounts, Decimal(0)) / MILLION, 9)


def find_price(prices: Mapping[str, Price], model: str) -> Price | None:
    """The price of a model by its name, a provider's prefix and a version's date aside; None when nobody knows it.

    Nothing is guessed from similar names: a wrong price is worse than none.
    """
    bare = model.strip().rpartition("/")[2]
    return prices.get(model) or prices.get(bare) or prices.get(_SNAPSHOT.sub("", bare))
