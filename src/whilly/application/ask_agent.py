"""An agent's attempt at an answer: it looks at the repository, changes nothing that is kept, and says something."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from whilly.application.run_session import UNSPENT, Setting, hold_session
from whilly.domain.attempt import AttemptResult, Outcome
from whilly.domain.errors import PortError, Unavailable
from whilly.domain.ids import asked_id
from whilly.domain.session import without_marker

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from whilly.application.attempt_context import AttemptContext
    from whilly.domain.flow.brief import Brief
    from whilly.domain.session import SessionReport

    Keep = Callable[[str], Awaitable[object]]


async def ask_agent(brief: Brief, context: AttemptContext, keep: Keep) -> AttemptResult:
    """Completed when the agent has said something, whatever it is worth; `keep` has it then.

    It works in a checkout of its own, at the commit that the run began with. A demo agent has nothing to say.
    """
    if context.ports.agents[brief.agent].facts().name == "demo":
        return AttemptResult(Outcome.COMPLETED, "the demo agent has no model", usage=UNSPENT, commit=brief.run.head)
    return await hold_session(brief, context, Setting(_enter, partial(_conclude, keep)))


async def _enter(brief: Brief, context: AttemptContext) -> str:
    if not brief.base:
        message = f"branch {brief.target} has no commit that could be found to look at"
        raise Unavailable(message)
    context.ports.checkpoint("open:before")
    workspace = await context.ports.workspace.open(asked_id(brief.run.id), f"{brief.branch}-asked", brief.base)
    context.ports.checkpoint("open:after")
    return workspace


async def _conclude(keep: Keep, brief: Brief, context: AttemptContext, report: SessionReport) -> AttemptResult:
    # Its conversation is not gone on with: whoever makes the change begins their own.
    result = AttemptResult(report.outcome, report.reason, report.usage, commit=brief.run.head, retry_at=report.retry_at)
    try:
        if report.outcome is Outcome.COMPLETED:
            await keep(without_marker(report.final_message))
        await context.ports.workspace.close(asked_id(brief.run.id), keep_branch=False)
    except PortError as error:
        outcome = Outcome.UNAVAILABLE if isinstance(error, Unavailable) else Outcome.CRASHED
        return AttemptResult(outcome, f"its answer could not be kept: {error}", report.usage, commit=brief.run.head)
    return result
