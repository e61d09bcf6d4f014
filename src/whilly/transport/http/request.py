"""What is asked of a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_REPEATABLE: Final = frozenset({"GET", "HEAD", "PUT", "PATCH", "DELETE"})
"""What may be sent again when nobody knows whether it arrived: the APIs' PATCH sets fields to values."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to ask for.

    Attributes:
        path: beneath the address of the API; or an absolute URL of the same host.
        body: sent as JSON; None is no body.
        accept: statuses beside the successes that are answers, not errors.
        is_repeatable: whether it may be sent again when nobody knows whether it arrived; None: by its method.
        bucket: which limit it counts against.
        is_json: whether a success has to be JSON, or nothing.
        may_leave: a redirect to another host is followed, without the token.
        keeps_end: of an answer that is too large, the end is kept instead of an error.
    """

    method: str
    path: str
    params: tuple[tuple[str, str], ...] = ()
    body: object = None
    accept: frozenset[int] = frozenset()
    is_repeatable: bool | None = None
    bucket: str = "core"
    is_json: bool = True
    may_leave: bool = False
    keeps_end: int = 0

    @property
    def can_repeat(self) -> bool:
        """Whether doing it twice is the same as doing it once."""
        return self.method in _REPEATABLE if self.is_repeatable is None else self.is_repeatable


def to_params(params: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Parameters of a query: None is left out, booleans are in lower case."""
    return tuple(
        (name, str(value).lower() if isinstance(value, bool) else str(value))
        for name, value in params.items()
        if value is not None
    )
