"""How many requests a server still takes, and how long to wait when it is time to wait."""

from __future__ import annotations

import math
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from whilly.transport.http.answer import Answer

SECONDARY_PAUSE_S = 60.0
"""GitHub asks for at least a minute where it limits without saying for how long."""

_TOO_MANY, _FORBIDDEN, _UNAVAILABLE = 429, 403, 503


@dataclass(frozen=True, slots=True)
class _Bucket:
    limit: int
    remaining: int
    resets_at: float


@final
class Allowance:
    """Remembers what the answers say about limits.

    Args:
        reserve: the share of each limit that is left to the people whose token it is.
    """

    def __init__(self, reserve: float = 0.1) -> None:
        self._reserve = reserve
        self._buckets: dict[str, _Bucket] = {}

    def note(self, headers: Mapping[str, str]) -> None:
        """Take notice of an answer's headers."""
        remaining = _number(headers, "remaining")
        resets_at = _number(headers, "reset")
        if remaining is None or resets_at is None:
            return
        limit = _number(headers, "limit") or 0
        name = headers.get("x-ratelimit-resource", "core")
        self._buckets[name] = _Bucket(int(limit), int(remaining), resets_at)

    def pause(self, now: datetime, bucket: str = "core") -> float:
        """Seconds to wait before the next request of this kind; 0 when it may be sent at once."""
        known = self._buckets.get(bucket)
        if known is None or known.remaining > math.floor(known.limit * self._reserve):
            return 0.0
        return max(0.0, known.resets_at - now.timestamp())


def limited_for(answer: Answer, now: datetime) -> float | None:
    """Seconds after which an answer that is a limit may be asked for again; None for any other answer."""
    if answer.status == _TOO_MANY or (answer.status == _FORBIDDEN and _says_limit(answer)):
        after = read_retry_after(answer.headers, now)
        if after is not None:
            return after
        resets_at = _number(answer.headers, "reset")
        if _number(answer.headers, "remaining") == 0 and resets_at is not None:
            # A second more: the server's clock and ours are two.
            return max(1.0, resets_at - now.timestamp() + 1.0)
        return SECONDARY_PAUSE_S
    return read_retry_after(answer.headers, now) if answer.status == _UNAVAILABLE else None


def read_retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds in `Retry-After`, which may also be a date; None when it is absent or cannot be understood."""
    value = headers.get("retry-after", "").strip()
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - now).total_seconds()) if value else None
    except (ValueError, TypeError):
        return None


def _says_limit(answer: Answer) -> bool:
    words = answer.message.lower()
    is_used_up = _number(answer.headers, "remaining") == 0
    return is_used_up or "retry-after" in answer.headers or "rate limit" in words or "abuse detection" in words


def _number(headers: Mapping[str, str], name: str) -> float | None:
    value = headers.get(f"x-ratelimit-{name}") or headers.get(f"ratelimit-{name}") or ""
    try:
        return float(value)
    except ValueError:
        return None
