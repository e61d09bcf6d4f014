"""What a result line of Claude Code means.

Outside facts (measured with 2.1.332): errors of the API come as `subtype: "success"` with `is_error: true`; the machine
fields are `terminal_reason`, `api_error_status`, `api_error`, and the `error` of the synthetic message before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whilly.domain.attempt import Outcome
from whilly.transport.http_status import judge_status
from whilly.transport.jsonlines import cut_line, get_count, get_text

if TYPE_CHECKING:
    from collections.abc import Mapping

ENDINGS = {
    "max_turns": Outcome.NO_PROGRESS,
    "error_max_turns": Outcome.NO_PROGRESS,
    "budget_exhausted": Outcome.OVER_BUDGET,
    "error_max_budget_usd": Outcome.OVER_BUDGET,
    "aborted_tools": Outcome.INTERRUPTED,
    "aborted_streaming": Outcome.INTERRUPTED,
}
"""`terminal_reason` or `subtype` → outcome."""

AUTH_ERRORS = frozenset({"authentication_failed", "billing_error", "oauth_org_not_allowed"})
PASSING_ERRORS = frozenset({"overloaded", "server_error", "unknown"})
LOST_SESSION = "No conversation found with session ID"


@dataclass(frozen=True, slots=True)
class Verdict:
    """An outcome, and the reason in the CLI's own words."""

    outcome: Outcome
    reason: str = ""
    is_session_lost: bool = False


def judge_result(result: Mapping[str, Any], error: str, *, is_limited: bool) -> Verdict:
    """The verdict on a result line.

    Args:
        result: the line, parsed.
        error: the `error` of the last synthetic message, which says what kind of failure it was.
        is_limited: whether the last word on the account's limits was that the request is rejected.
    """
    ending = get_text(result, "terminal_reason")
    reason = _find_reason(result)
    if result.get("is_error") is False and ending in {"", "completed"}:
        return Verdict(Outcome.COMPLETED)
    for name in (ending, get_text(result, "subtype")):
        if name in ENDINGS:
            return Verdict(ENDINGS[name], reason or name)
    if reason.startswith(LOST_SESSION):
        return Verdict(Outcome.CRASHED, reason, is_session_lost=True)
    return Verdict(_judge_error(result, error, is_limited=is_limited), reason or f"it ended early: {ending or error}")


def _judge_error(result: Mapping[str, Any], error: str, *, is_limited: bool) -> Outcome:
    status = get_count(result, "api_error_status")
    known = judge_status(status)
    is_rejected = not status and (is_limited or error == "rate_limit")
    if known is Outcome.LIMITED or is_rejected or get_text(result, "api_error") == "usage_limit_reached":
        return Outcome.LIMITED
    if error in AUTH_ERRORS:
        return Outcome.AUTH_FAILED
    is_passing = not status and error in PASSING_ERRORS
    return known or (Outcome.UNAVAILABLE if is_passing else Outcome.CRASHED)


def _find_reason(result: Mapping[str, Any]) -> str:
    errors = result.get("errors")
    listed = [each for each in errors if isinstance(each, str)] if isinstance(errors, list) else []
    return cut_line("; ".join(listed) or get_text(result, "result"), 400)
