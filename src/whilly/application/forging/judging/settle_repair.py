"""A repair that comes to nothing ends with the verdict, not with the run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from whilly.domain.attempt import AttemptResult, Outcome

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from whilly.application.attempt_context import AttemptContext
    from whilly.domain.flow.brief import Brief, HandedOver

    Handler = Callable[[Brief, AttemptContext], Awaitable[AttemptResult | HandedOver]]

_FRUITLESS = frozenset({Outcome.NO_PROGRESS, Outcome.CRASHED, Outcome.STALLED, Outcome.TIMED_OUT, Outcome.OVER_BUDGET})
"""Outcomes that are tried again, within the stage's `attempts`."""


def settling(handler: Handler) -> Callable[[Brief, AttemptContext], Awaitable[AttemptResult | HandedOver]]:
    """The same stage, where the last try of a repair leaves the work to the verdict as it is."""

    async def work(brief: Brief, context: AttemptContext) -> AttemptResult | HandedOver:
        result = await handler(brief, context)
        if isinstance(result, AttemptResult) and _is_over(brief, result):
            return replace(result, outcome=Outcome.COMPLETED, evidence=None)
        return result

    return work


def _is_over(brief: Brief, result: AttemptResult) -> bool:
    if brief.stage.prompt != "repair" or result.is_deliberate or (result.commit or brief.run.head) is None:
        return False
    is_last = brief.run.tries + 1 >= brief.stage.attempts
    return result.outcome is Outcome.REJECTED or (is_last and result.outcome in _FRUITLESS)
