"""Checks whose evidence tells no secrets: it goes into the ledger, reports, and the next agent's prompt."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.ports.checks import Checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whilly.domain.change import CheckCommand, CheckReport
    from whilly.domain.ids import AttemptId
    from whilly.domain.redaction import Redactor


@final
class RedactedChecks(Checks):
    """Checks, and a redactor for what they found."""

    def __init__(self, checks: Checks, redactor: Redactor) -> None:
        self._checks = checks
        self._redactor = redactor

    @override
    async def run(self, attempt: AttemptId, checkout: str, commands: Sequence[CheckCommand]) -> CheckReport:
        report = await self._checks.run(attempt, checkout, commands)
        if report.failure is None:
            return report
        clean, found = self._redactor.clean, report.failure
        evidence = replace(
            found,
            summary=clean(found.summary),
            output=clean(found.output),
            hints=tuple(clean(hint) for hint in found.hints),
        )
        return replace(report, failure=evidence)
