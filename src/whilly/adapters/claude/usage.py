"""Counting what a session of Claude Code used.

Outside facts (measured with 2.1.332): a message's usage repeats on each of its lines, one per content block; the first
ones may hold fewer output tokens than the last. `total_cost_usd` and `modelUsage` of a result grow over the whole
session, across `--resume`; `model_usage_since_last_result` is this process's own, since its last result line.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, final

from whilly.domain.attempt import Usage
from whilly.transport.jsonlines import get_count, get_money, get_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MESSAGE_KEYS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
MODEL_KEYS = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")

Counts = tuple[int, int, int, int]


@final
class UsageCount:
    """Adds up messages until a result line settles them."""

    def __init__(self) -> None:
        self._settled: Counts = (0, 0, 0, 0)
        self._open: dict[str, Counts] = {}
        self._cost: Decimal | None = Decimal(0)
        self._turns = 0
        self._has_result = False

    @property
    def has_open_messages(self) -> bool:
        """Whether there are messages that no result line has settled."""
        return bool(self._open)

    def see_message(self, message: Mapping[str, Any]) -> int:
        """Count an assistant message, once however often it is seen; the tokens that this sight adds."""
        return self.see_usage(get_text(message, "id"), message.get("usage"))

    def see_usage(self, message_id: str, usage: object) -> int:
        """The same for a message of which only id and usage are known."""
        seen = _count(usage, MESSAGE_KEYS)
        before = self._open.get(message_id, (0, 0, 0, 0))
        after = tuple(max(pair) for pair in zip(before, seen, strict=True))
        self._open[message_id] = (after[0], after[1], after[2], after[3])
        return sum(after[:2]) - sum(before[:2])

    def see_result(self, result: Mapping[str, Any]) -> None:
        """Settle the messages so far with what the result line says about them."""
        models = result.get("model_usage_since_last_result")
        if isinstance(models, dict):
            counts = _add(_count(model, MODEL_KEYS) for model in models.values())
            cost = _add_money(get_money(model, "costUSD") for model in models.values())
            cost = None if self._open and not models else cost
        else:
            counts = _count(result.get("usage"), MESSAGE_KEYS)
            cost = _read_total(result)
        # A result that counts fewer tokens than its messages would make spending vanish.
        counts = max(counts, _add(self._open.values()), key=sum)
        self._settled = _add((self._settled, counts))
        self._cost = _add_money((self._cost, cost))
        self._turns += get_count(result, "num_turns")
        self._has_result = True
        self._open = {}

    def total(self, *, is_refused: bool) -> Usage:
        """All that was counted; the cost is unknown when messages came for which no result line has a price.

        Args:
            is_refused: the provider refused every request after the last result, so that nothing more was spent.
        """
        is_priced = not self._open and (self._has_result or is_refused)
        counts = _add((self._settled, *self._open.values()))
        return Usage(
            cost_usd=self._cost if is_priced else None,
            input_tokens=counts[0],
            output_tokens=counts[1],
            cache_read_tokens=counts[2],
            cache_write_tokens=counts[3],
            turns=self._turns or len(self._open),
        )


def _read_total(result: Mapping[str, Any]) -> Decimal | None:
    """The cost by older versions' fields, where a total that holds a resumed session's past must not be booked."""
    models = result.get("modelUsage")
    whole = _add(_count(model, MODEL_KEYS) for model in models.values()) if isinstance(models, dict) else None
    own = _count(result.get("usage"), MESSAGE_KEYS)
    return get_money(result, "total_cost_usd") if whole == own else None


def _count(usage: object, keys: tuple[str, ...]) -> Counts:
    first, second, third, fourth = (get_count(usage, key) for key in keys)
    return first, second, third, fourth


def _add(many: Iterable[Counts]) -> Counts:
    columns = list(zip(*many, strict=True)) or [(0,)] * 4
    return sum(columns[0]), sum(columns[1]), sum(columns[2]), sum(columns[3])


def _add_money(amounts: Iterable[Decimal | None]) -> Decimal | None:
    total = Decimal(0)
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total
