"""A person's attempt: workspace, prompt, and what they answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from whilly.application.compose_prompt import compose_prompt
from whilly.application.run_session import UNSPENT, conclude, explain_failure, open_workspace
from whilly.domain.attempt import AttemptResult, Outcome
from whilly.domain.errors import ConfigError, PortError
from whilly.domain.flow.brief import HandedOver
from whilly.domain.flow.lifecycle import PERSON
from whilly.domain.handoff import Answer, Handoff, HandoffState, Standing, judge_answer
from whilly.domain.session import COMPLETION_MARKER, SessionReport

if TYPE_CHECKING:
    from whilly.application.attempt_context import AttemptContext
    from whilly.domain.flow.brief import Brief, Halt


async def hand_over(brief: Brief, context: AttemptContext) -> AttemptResult | HandedOver:
    """Hand the attempt over, or see what has become of it: it goes on, or it has come to a result.

    It goes on when the plan stops and when Whilly is killed. Only a word about this very attempt takes it back.
    """
    halt = context.line.halt()
    standing = await context.ports.handoffs.look(brief.attempt)
    if standing.state is HandoffState.ABSENT and halt:
        return AttemptResult(halt.outcome, halt.reason, usage=UNSPENT, is_deliberate=True)
    if halt and halt.is_personal:
        return await _take_back(brief, context, halt)
    try:
        if standing.state is HandoffState.ABSENT:
            standing = await _offer(brief, context)
    except (PortError, ConfigError) as error:
        return explain_failure(error)
    return await _go_on(brief, context, standing)


async def _go_on(brief: Brief, context: AttemptContext, standing: Standing) -> AttemptResult | HandedOver:
    match standing.state:
        case HandoffState.ANSWERED if standing.answer is not None:
            return await _take(brief, context, standing.answer)
        case HandoffState.WITHDRAWN:
            reason = standing.problem or "it was taken back"
            report = SessionReport(Outcome.INTERRUPTED, reason=reason, usage=UNSPENT)
            return replace(await conclude(brief, context, report), is_deliberate=True)
        case _ if _is_overdue(standing, context):
            await context.ports.handoffs.withdraw(brief.attempt, "its time was over")
            report = SessionReport(Outcome.TIMED_OUT, reason="nobody answered in time", usage=UNSPENT)
            return await conclude(brief, context, report)
        case _:
            return HandedOver(PERSON, _describe(brief, standing))


async def _offer(brief: Brief, context: AttemptContext) -> Standing:
    workspace = await open_workspace(brief, context)
    # A person's git and editor obey what lies in a checkout, so nothing of an agent may lie there but files.
    await context.ports.workspace.renew(brief.run.id)
    branch = await context.ports.workspace.find_branch(brief.run.id) or ""
    handoff = Handoff(
        attempt=brief.attempt,
        item=brief.item.id,
        title=brief.item.title,
        stage=brief.stage.name,
        prompt=compose_prompt(brief, context.render),
        workspace=workspace,
        branch=branch,
        source=brief.source,
        time_limit=context.rules.limits.handoff,
    )
    context.ports.checkpoint("start:before")
    standing = await context.ports.handoffs.offer(handoff)
    context.ports.checkpoint("start:after")
    return standing


async def _take(brief: Brief, context: AttemptContext, answer: Answer) -> AttemptResult:
    outcome, reason = judge_answer(answer)
    # A person need not know the line that agents end with: the status says the same.
    said = f"{answer.message}\n{COMPLETION_MARKER}" if outcome is Outcome.COMPLETED else answer.message
    report = SessionReport(outcome, final_message=said, reason=reason, usage=answer.usage)
    result = await conclude(brief, context, report)
    return replace(result, whom=f"{PERSON}:{answer.whom}" if answer.whom else "")


async def _take_back(brief: Brief, context: AttemptContext, halt: Halt) -> AttemptResult:
    await context.ports.handoffs.withdraw(brief.attempt, halt.reason)
    report = SessionReport(halt.outcome, reason=halt.reason, usage=UNSPENT)
    return replace(await conclude(brief, context, report), is_deliberate=True)


def _is_overdue(standing: Standing, context: AttemptContext) -> bool:
    handoff = standing.handoff
    if handoff is None or handoff.started_at is None or handoff.time_limit is None:
        return False
    return context.ports.clock.now() - handoff.started_at >= handoff.time_limit


def _describe(brief: Brief, standing: Standing) -> str:
    how = f"handed over: whilly handoff show {brief.item.id}"
    return f"{how}; its answer cannot be used: {standing.problem}" if standing.problem else how
