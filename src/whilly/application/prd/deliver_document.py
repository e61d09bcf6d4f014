"""The stage `deliver`: the document is put into the user's work tree, and nothing else of the agent's change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.application.prd.check_document import read_document
from whilly.domain.attempt import AttemptResult, Outcome
from whilly.domain.errors import RuleViolation

if TYPE_CHECKING:
    from whilly.application.attempt_context import AttemptContext
    from whilly.application.prd.order import Order
    from whilly.domain.flow.brief import Brief


async def deliver_document(brief: Brief, context: AttemptContext, order: Order) -> AttemptResult:
    """Completed when the work tree has the document; it waits for a person where that must not be.

    The commit that the run ends with is the one that it began with: what the agent did besides is not taken.
    """
    text = await read_document(brief, order)
    if text is None:
        return AttemptResult(Outcome.CRASHED, f"the run's commit, or {order.idea.document} in it, is gone")
    context.ports.checkpoint("put:before")
    try:
        await order.documents.put(order.idea.document, text, replaces=order.replaces)
    except RuleViolation as error:
        return AttemptResult(Outcome.ASKED, f"{error}; then give the same command again", commit=brief.run.head)
    context.ports.checkpoint("put:after")
    return AttemptResult(Outcome.COMPLETED, f"put into the work tree: {order.idea.document}", commit=brief.base)
