"""What an HTTP status of a model's provider means for an attempt, whichever CLI it comes through."""

from __future__ import annotations

from whilly.domain.attempt import Outcome

_AUTH = frozenset({401, 402, 403})
_TOO_MANY = 429
_PASSING = frozenset({408, 409, 425})
_SERVER_ERRORS = 500


def judge_status(status: int) -> Outcome | None:
    """A refused login, a limit, or an outage; None for one that says none of these, and for 0, no status at all."""
    if status in _AUTH:
        return Outcome.AUTH_FAILED
    if status == _TOO_MANY:
        return Outcome.LIMITED
    return Outcome.UNAVAILABLE if status in _PASSING or status >= _SERVER_ERRORS else None
