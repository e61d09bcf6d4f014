"""Checks: commands that must pass on a checkout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whilly.domain.change import CheckCommand, CheckReport
    from whilly.domain.ids import AttemptId


class Checks(Protocol):
    """Runs commands and keeps what is useful of their output."""

    async def run(self, attempt: AttemptId, checkout: str, commands: Sequence[CheckCommand]) -> CheckReport:
        """Run the commands in order in `checkout`, each by the shell, until one fails.

        Processes that an earlier call for this attempt left behind are ended first, and none outlives this call,
        also when it is cancelled. A command that cannot be found is a failure like any other.
        """
        ...
