"""An attempt's line to the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.application.attempt_context import Line
from whilly.engine.driving.patience import patiently

if TYPE_CHECKING:
    from whilly.application.live import Live
    from whilly.domain.flow.brief import Halt
    from whilly.domain.flow.run import Run
    from whilly.domain.ids import CommitId
    from whilly.domain.session import Activity
    from whilly.engine.driving.control import Control
    from whilly.engine.ledger import Ledger


@final
class AttemptLine(Line):
    """Connects the handler of one attempt with the ledger, the stops and the watchers."""

    def __init__(self, run: Run, ledger: Ledger, control: Control, live: Live, *, is_agent: bool) -> None:
        self._run = run
        self._is_agent = is_agent
        self._ledger = ledger
        self._control = control
        self._live = live

    @override
    def halt(self) -> Halt | None:
        return self._control.halt(self._run, is_agent=self._is_agent)

    @override
    def report(self, activity: Activity) -> None:
        self._live.acted(self._run.item, activity)

    @override
    async def keep_candidate(self, commit: CommitId) -> bool:
        run = self._run
        return await patiently(self._ledger.keep_candidate, run.id, run.plan, run.attempt, commit)
