"""What an error of OpenCode means.

Outside facts (measured with 1.18.33): an error has a name, and for the provider's refusals the HTTP status, whether
trying again makes sense, the answer's headers and its body.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from whilly.domain.attempt import Outcome
from whilly.transport.http_status import judge_status
from whilly.transport.jsonlines import get_count, get_text, parse_object

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES = {"ProviderAuthError": Outcome.AUTH_FAILED, "MessageAbortedError": Outcome.INTERRUPTED}
LOST_SESSION = "Session not found"
REFUSED = "The user rejected permission"
"""The error of a tool for which OpenCode asked, in a mode in which nobody answers."""

USED_UP = frozenset({"usage_limit_reached", "usage_limit_exceeded"})
UNPAID = frozenset({"insufficient_quota", "billing_error", "credit_balance_too_low"})


def judge_error(error: Mapping[str, Any]) -> Outcome:
    """The outcome of a session that ended with this error."""
    name, data = get_text(error, "name"), error.get("data")
    status, kinds = get_count(data, "statusCode"), _find_kinds(data)
    if name in NAMES:
        return NAMES[name]
    known = judge_status(status)
    if known is Outcome.AUTH_FAILED or kinds & UNPAID:
        return Outcome.AUTH_FAILED
    if kinds & USED_UP:
        return Outcome.LIMITED
    is_network = not status and isinstance(data, dict) and data.get("isRetryable") is True
    return known or (Outcome.UNAVAILABLE if is_network else Outcome.CRASHED)


def find_pause(error: Mapping[str, Any]) -> timedelta | None:
    """How long the provider asks to wait, by the headers of its answer."""
    data = error.get("data")
    headers = data.get("responseHeaders") if isinstance(data, dict) else None
    for name, unit in (("retry-after-ms", "milliseconds"), ("retry-after", "seconds")):
        text = get_text(headers, name)
        if text.isdecimal() and len(text) < 10:  # noqa: PLR2004  (thirty years are not believed)
            return timedelta(**{unit: int(text)})
    return None


def find_reset(error: Mapping[str, Any], said_ms: int) -> datetime | None:
    """When trying again makes sense.

    Args:
        error: as it was told.
        said_ms: when that was, in milliseconds since 1970.
    """
    at = get_count(_find_body(error.get("data")).get("error"), "resets_at")
    pause = find_pause(error)
    try:
        if at:
            return datetime.fromtimestamp(at, UTC)
        return datetime.fromtimestamp(said_ms / 1000, UTC) + pause if said_ms and pause else None
    except (OverflowError, ValueError, OSError):
        return None


def _find_kinds(data: object) -> set[str]:
    inner = _find_body(data).get("error")
    return {get_text(inner, "type"), get_text(inner, "code")}


def _find_body(data: object) -> dict[str, Any]:
    return parse_object(get_text(data, "responseBody").encode()) or {}
