"""The price table, and a reader that works a session's cost out of its tokens by it."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.domain.errors import ConfigError
from whilly.domain.price import Price, find_price
from whilly.ports.agent import SessionReader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.session import Activity, Exit, SessionReport


@cache
def packaged_prices() -> Mapping[str, Price]:
    """The packaged list prices, by model."""
    text = files("whilly.adapters.command").joinpath("prices.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text, parse_float=Decimal)
    return {
        model: Price(**rates, as_of=table["as_of"], source=table["source"])
        for table in tables.values()
        for model, rates in table["models"].items()
    }


def merge_prices(changes: Mapping[str, Mapping[str, Decimal]]) -> Mapping[str, Price]:
    """The packaged prices with some rates changed and models added.

    Raises:
        ConfigError: a model that has no packaged price lacks one of the two rates that every model has.
    """
    packaged = packaged_prices()
    return {**packaged, **{model: _change(model, rates, packaged.get(model)) for model, rates in changes.items()}}


def _change(model: str, rates: Mapping[str, Decimal], known: Price | None) -> Price:
    if known is not None:
        rated = {
            name: rates.get(name, getattr(known, name)) for name in ("input", "output", "cache_read", "cache_write")
        }
        return Price(**rated)
    input_, output = rates.get("input"), rates.get("output")
    if input_ is not None and output is not None:
        return Price(input_, output, rates.get("cache_read"), rates.get("cache_write"))
    missing = [name for name in ("input", "output") if name not in rates]
    message = f"prices.{model}: {' and '.join(missing)} is not set, and there is no packaged price of this model"
    raise ConfigError(message, remedy="set US dollars for a million tokens, both for input and for output")


@final
class PricedSessionReader(SessionReader):
    """Reads as another reader does, and adds the cost when that one knows all tokens and the model has a price.

    Args:
        reader: gives no usage unless it is whole; half the tokens would make half the money vanish.
        model: the one that was asked for, unless the CLI says which one worked.
        deposit: USD that are booked already for what the CLI may tell together with this session's own tokens.
    """

    def __init__(
        self, reader: SessionReader, prices: Mapping[str, Price], model: str, deposit: Decimal = Decimal(0)
    ) -> None:
        self._reader = reader
        self._prices = prices
        self._model = model
        self._deposit = deposit

    @override
    def feed(self, line: bytes) -> list[Activity]:
        return self._reader.feed(line)

    @override
    def fatal(self) -> str:
        return self._reader.fatal()

    @override
    def is_over(self) -> bool:
        return self._reader.is_over()

    @override
    def report(self, exit_: Exit) -> SessionReport:
        report = self._reader.report(exit_)
        price = find_price(self._prices, report.model or self._model)
        if report.usage is None or report.usage.cost_usd is not None or price is None:
            return report
        cost = price.charge(report.usage)
        if report.holds_past:
            cost = max(cost - self._deposit, Decimal(0))
        return replace(report, usage=replace(report.usage, cost_usd=cost))
