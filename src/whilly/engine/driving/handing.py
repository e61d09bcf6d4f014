"""Writing down that an attempt is in somebody's hands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.domain.flow.event import AttemptHandedOver

if TYPE_CHECKING:
    from whilly.domain.flow.brief import HandedOver
    from whilly.domain.flow.run import Run
    from whilly.engine.ledger import Ledger


def hand_over(ledger: Ledger, run: Run, handed: HandedOver) -> str:
    """The run's attempt under way is in somebody's hands: it waits for them, without a slot; empty, or why not."""
    with ledger.unit("hand_over", run.plan) as unit:
        event = AttemptHandedOver(run.attempt, unit.tx.now, handed.whom, handed.reason)
        return ledger.tell(unit, unit.tx.runs.get(run.id), event)
