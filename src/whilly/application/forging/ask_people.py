"""What people are asked before an issue is begun: each question once, in one comment, and then it waits for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.application.forging.ingest_issue import ISSUE, find_digest
from whilly.domain.attempt import AttemptResult, Outcome
from whilly.domain.challenge.finding import Severity
from whilly.domain.intake.readiness import ask
from whilly.domain.text.neutralize import neutralize

if TYPE_CHECKING:
    from whilly.application.attempt_context import AttemptContext
    from whilly.application.forging.desk import Desk
    from whilly.domain.challenge.finding import Review
    from whilly.domain.flow.brief import Brief
    from whilly.domain.intake.readiness import Judgement

CLARIFY, READY = "needs-clarification", "whilly:ready"
"""Labels: somebody has to tell more; somebody wants it to be begun."""
REFUSED = "refused"


async def ask_author(brief: Brief, context: AttemptContext, desk: Desk, judgement: Judgement) -> AttemptResult:
    """Ask for what is missing; the comment is the same one whoever has found out that it is."""
    issue = await desk.artefacts.load(brief.run.id, ISSUE) or {}
    context.ports.checkpoint("ask:before")
    await desk.tracker.comment(desk.ref, f"{desk.ref.key}/readiness", ask(judgement))
    await desk.tracker.set_labels(desk.ref, [CLARIFY], [READY])
    context.ports.checkpoint("ask:after")
    reason = f"not ready: {'; '.join(judgement.missing_information)}"
    whom = f"person:{issue.get('author', '')}"
    return AttemptResult(Outcome.BLOCKED, reason[:1000], commit=brief.run.head, whom=whom)


async def refuse(brief: Brief, context: AttemptContext, desk: Desk, made: Review) -> AttemptResult | None:
    """Wait for a person when something grave speaks against it; who lets the run go on with the same has decided."""
    grave = [each.text for each in made.objections if each.severity is Severity.CRITICAL]
    issue, known = await find_digest(brief, desk), await desk.artefacts.load(brief.run.id, REFUSED) or {}
    told: dict[str, int] = dict(known["told"]) if known.get("issue") == issue else {}  # type: ignore[call-overload]  # our own document
    # An attempt that was killed is gone on with: it has not been answered.
    open_ones = [text for text in grave if told.get(text, brief.run.attempt) == brief.run.attempt]
    if not open_ones:
        return None
    reason = "; ".join(open_ones)
    context.ports.checkpoint("ask:before")
    text = f"This is not begun: {neutralize(reason)}\n\nEdit the description, or let somebody begin it all the same."
    await desk.tracker.comment(desk.ref, f"{desk.ref.key}/challenge", text)
    told |= dict.fromkeys(open_ones, brief.run.attempt)
    await desk.artefacts.save(brief.run.id, REFUSED, {"version": 1, "issue": issue, "told": told})
    context.ports.checkpoint("ask:after")
    return AttemptResult(Outcome.BLOCKED, f"rejected: {reason}"[:1000], commit=brief.run.head, whom="person")
