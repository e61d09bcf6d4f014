"""What the end of a session of Gemini CLI means.

Outside facts (measured with 0.61.0): the exit code is the HTTP status modulo 256, or one of its own; the result's error
is a type and a text, in which the status stands only sometimes. A loop that it notices ends in a result of `success`.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from whilly.domain.attempt import Outcome
from whilly.transport.http_status import judge_status
from whilly.transport.jsonlines import get_text

if TYPE_CHECKING:
    from collections.abc import Mapping

EXIT_CODES = {41: Outcome.AUTH_FAILED, 53: Outcome.NO_PROGRESS, 130: Outcome.INTERRUPTED}
"""Its own codes; 41 is a missing login, 53 the limit of turns."""

ERROR_TYPES = {
    "FatalTurnLimitedError": Outcome.NO_PROGRESS,
    "FatalAuthenticationError": Outcome.AUTH_FAILED,
    "FatalCancellationError": Outcome.INTERRUPTED,
}
LOST_SESSION = "Error resuming session:"
LOOP = "Loop detected"

_PREFIX = "[API Error: "
_STATUS = re.compile(r'"code":\s*(\d{3})\b')
_QUOTA = re.compile(
    r"You have exhausted your (?:daily|capacity|\w+) ?(?:quota)? on this model|exhausted your daily quota"
)
_BAD_KEY = re.compile(r"API[ _]key not valid|API_KEY_INVALID")
_RESET = re.compile(r"reset after ((?:\d+[dhms]\s*)+)")
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}


def judge_error(error: Mapping[str, Any], code: int) -> Outcome:
    """The outcome of a result that is an error, with the exit code."""
    kind, message = get_text(error, "type"), get_text(error, "message")
    status = find_status(message, code)
    is_api = message.startswith(_PREFIX)
    if kind in ERROR_TYPES:
        return ERROR_TYPES[kind]
    if is_api and _QUOTA.search(message):
        return Outcome.LIMITED
    if is_api and _BAD_KEY.search(message):
        return Outcome.AUTH_FAILED
    passing = Outcome.UNAVAILABLE if "fetch failed" in message else None
    return judge_status(status) or passing or EXIT_CODES.get(code, Outcome.CRASHED)


def find_status(message: str, code: int) -> int:
    """The HTTP status, as the message has it or as the exit code holds it; 0 when there is none."""
    found = _STATUS.search(message)
    if found:
        return int(found.group(1))
    # 400…511 leave 144…255; the only common status above is 529, which leaves 17.
    return {17: 529}.get(code, code + 256 if code >= 144 else 0)  # noqa: PLR2004  (400 modulo 256)


def find_reset(message: str, at: str) -> datetime | None:
    """When a quota is full again, if the message says after how long; `at` is when it was said."""
    found = _RESET.search(message)
    try:
        said = datetime.fromisoformat(at)
    except ValueError:
        return None
    if found is None or said.tzinfo is None:
        return None
    spans = re.findall(r"(\d{1,6})([dhms])", found.group(1))
    return said + sum((timedelta(**{_UNITS[unit]: int(count)}) for count, unit in spans), timedelta(0))
