"""Every error that Whilly raises on purpose.

One root, three branches: the domain forbids it (`RuleViolation`), the outside world failed (`PortError`), the
installation is wrong (`ConfigError`). A message names the thing, the reason and the remedy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typing_extensions import override

if TYPE_CHECKING:
    from datetime import timedelta


class WhillyError(Exception):
    """Root of all errors raised on purpose.

    Args:
        message: what is wrong and why, in one sentence.
        remedy: what to do about it: a command or an instruction; empty when there is nothing to do.
    """

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    @override
    def __str__(self) -> str:
        return f"{self.message} → {self.remedy}" if self.remedy else self.message

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        # Keyword-only arguments do not survive the default pickling of exceptions.
        return (_rebuild, (type(self), self.__dict__.copy()))


def _rebuild(cls: type[WhillyError], state: dict[str, Any]) -> WhillyError:
    error = cls.__new__(cls)
    Exception.__init__(error, state.get("message", ""))
    error.__dict__.update(state)
    return error


class RuleViolation(WhillyError):
    """The domain forbids it."""


class ConfigError(WhillyError):
    """The installation, the configuration or the environment is wrong; raised at start-up only."""


class PortError(WhillyError):
    """The outside world did not do what was asked."""


class Unavailable(PortError):
    """It cannot be reached or is overloaded; trying again later may work."""

    def __init__(self, message: str, *, remedy: str = "", retry_after: timedelta | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.retry_after = retry_after


class RateLimited(Unavailable):
    """It asked us to come back later."""


class NotAuthorized(PortError):
    """Our credential is missing, wrong or too weak."""


class NotFound(PortError):
    """The thing that was asked for is not there."""


class BadResponse(PortError):
    """It answered, but not with what was agreed."""
