from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from whilly.adapters.agents import make_agent
from whilly.adapters.command.pricing import packaged_prices
from whilly.domain.attempt import Usage
from whilly.domain.errors import ConfigError
from whilly.domain.ids import SessionId
from whilly.domain.price import Price, find_price
from whilly.domain.session import Exit, Prior

PRICE = Price(Decimal(2), Decimal(10), cache_read=Decimal("0.5"))
TURN = (
    b'{"type": "turn.completed", "usage": {"input_tokens": 1000000, "cached_input_tokens": 400000,'
    b' "output_tokens": 100000}}'
)


def test_each_kind_of_token_has_its_price() -> None:
    assert PRICE.charge(Usage(None, 1_000_000, 100_000, 2_000_000, 500_000)) == Decimal("5.00")
    assert PRICE.charge(Usage(None, 1, 0)) == Decimal("0.000002")


@pytest.mark.parametrize(
    ("model", "is_known"),
    [
        ("m-1", True),
        ("models/m-1", True),
        ("m-1-2026-01-31", True),
        ("m-1-20260131", True),
        ("m-10", False),
        ("", False),
    ],
)
def test_a_price_is_found_by_the_models_name_and_not_guessed(model: str, *, is_known: bool) -> None:
    assert (find_price({"m-1": PRICE}, model) is PRICE) == is_known


def test_every_packaged_price_says_when_and_where_it_was_read() -> None:
    prices = packaged_prices()
    assert {"gpt-5.5", "gemini-2.5-pro"} <= set(prices)
    for price in prices.values():
        assert date.fromisoformat(price.as_of) > date(2026, 1, 1)
        assert price.source.startswith("https://")
        assert 0 < (price.cache_read or Decimal(0)) < price.input < price.output


@pytest.mark.parametrize(
    ("model", "cost"),
    [("gpt-5.5", Decimal("6.2")), ("mine", Decimal("3.2")), ("of tomorrow", None), ("", None)],
)
def test_a_session_that_reports_tokens_costs_what_the_table_says(model: str, cost: Decimal | None) -> None:
    agent = make_agent(
        "codex", {}, {}, (), {"mine": {"input": Decimal(4), "output": Decimal(4), "cache_read": Decimal(1)}}
    )
    reader = agent.reader(Prior(model=model))
    reader.feed(TURN)
    report = reader.report(Exit(0))
    assert report.usage is not None
    assert (report.usage.cost_usd, report.usage.input_tokens) == (cost, 600_000)


def test_a_price_of_the_users_replaces_the_packaged_one() -> None:
    agent = make_agent("codex", {"model": "gpt-5.5"}, {}, (), {"gpt-5.5": {"output": Decimal(1)}})
    reader = agent.reader()
    reader.feed(TURN)
    usage = reader.report(Exit(0)).usage
    assert usage is not None
    assert usage.cost_usd == Decimal("3.3")


@pytest.mark.parametrize(
    ("deposit", "session", "cost"),
    [
        pytest.param("0.2", "t1", "6.0", id="what stood for the past is taken off"),
        pytest.param("9", "t1", "0", id="it stood for more than all"),
        pytest.param("0.2", "t2", "6.2", id="another session's past"),
    ],
)
def test_a_session_that_tells_its_past_is_booked_once(deposit: str, session: str, cost: str) -> None:
    agent = make_agent("codex", {"model": "gpt-5.5"}, {})
    reader = agent.reader(Prior(session=SessionId(session), deposit=Decimal(deposit)))
    reader.feed(b'{"type":"thread.started","thread_id":"t1"}')
    reader.feed(TURN)
    usage = reader.report(Exit(0)).usage
    assert usage is not None
    assert usage.cost_usd == Decimal(cost)


def test_a_new_models_price_needs_both_rates() -> None:
    with pytest.raises(ConfigError, match=r"prices\.mine: output is not set") as caught:
        make_agent("codex", {}, {}, (), {"mine": {"input": Decimal(1)}})
    assert "million" in caught.value.remedy


def test_a_session_that_was_cut_off_has_an_unknown_cost() -> None:
    agent = make_agent("codex", {"model": "gpt-5.5"}, {})
    assert agent.reader().report(Exit(None, 9)).usage is None
