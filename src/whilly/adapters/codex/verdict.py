"""What the error of a failed turn of Codex means.

Outside facts (measured with 0.171.0): an error is its text alone, without a code. The text is Codex's own, from its
`turn.failed` and `error` events; a limit's reset is a local time, without its date when that is today.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from whilly.domain.attempt import Outcome
from whilly.transport.http_status import judge_status

if TYPE_CHECKING:
    from collections.abc import Iterable

RETRYING = "Reconnecting..."
LOST_SESSION = "no rollout found for thread id"

_LIMIT = re.compile(r"^You(?:['\u2019]ve| have) hit your usage limit")
_STATUS = re.compile(r"(?:unexpected status|last status:) (\d{3})\b")
_REFUSED = ("Quota exceeded.", "Missing environment variable:", "Not logged in", "Your access token could not")
_PASSING = (
    "We\u2019re currently experiencing high demand",
    "We're currently experiencing high demand",
    "stream disconnected",
    "Connection failed:",
    "error sending request",
    "Selected model is at capacity",
    "timeout waiting for child process",
)
_RESET = re.compile(r"try again at (?:(\w{3} \d{1,2})(?:st|nd|rd|th)?, (\d{4}) )?(\d{1,2}:\d{2} [AP]M)", re.IGNORECASE)


def judge_error(message: str) -> Outcome:
    """The outcome of a turn that failed with this error."""
    known = judge_status(find_status(message))
    if _LIMIT.match(message) or known is Outcome.LIMITED:
        return Outcome.LIMITED
    if message.startswith(_REFUSED):
        return Outcome.AUTH_FAILED
    return known or (Outcome.UNAVAILABLE if message.startswith(_PASSING) else Outcome.CRASHED)


def find_status(message: str) -> int:
    """The HTTP status in an error; 0 when there is none."""
    found = _STATUS.search(message)
    return int(found.group(1)) if found else 0


def find_reset(message: str, began_at: datetime | None) -> datetime | None:
    """When a usage limit ends, as far as its text says; the time zone is this machine's, which Codex used too.

    Args:
        message: the limit's text.
        began_at: when the attempt began: a time without a date is the first such time after it.
    """
    found = _RESET.search(message)
    if found is None:
        return None
    day, year, time = found.groups()
    for text, form in _spell(day, year, time, began_at):
        try:
            reset = datetime.strptime(text, form).astimezone()
        except (ValueError, OverflowError, OSError):
            continue
        is_past = day is None and began_at is not None and reset < began_at - timedelta(minutes=1)
        return reset + timedelta(days=1) if is_past else reset
    return None


def _spell(day: str | None, year: str | None, time: str, began_at: datetime | None) -> Iterable[tuple[str, str]]:
    if day is not None:
        return [(f"{day} {year} {time}", "%b %d %Y %I:%M %p")]
    if began_at is None:
        return []
    return [(f"{began_at.astimezone():%Y-%m-%d} {time}", "%Y-%m-%d %I:%M %p")]
