"""The stages of agents and checks, told what the issue wants instead of what the plan says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from whilly.application.forging.ingest_issue import load_spec
from whilly.application.forging.rounds import find_known_failure
from whilly.application.forging.understand_issue import judge_spec
from whilly.application.integrate_change import integrate_change
from whilly.domain.challenge.review import list_points, review_spec
from whilly.domain.flow.brief import Profile
from whilly.domain.intake.spec import make_item
from whilly.domain.intake.strategy import choose_strategy

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from whilly.application.attempt_context import AttemptContext
    from whilly.application.forging.desk import Desk
    from whilly.domain.attempt import AttemptResult
    from whilly.domain.flow.brief import Brief, HandedOver

    Handler = Callable[[Brief, AttemptContext], Awaitable[AttemptResult | HandedOver]]


def with_issue(handler: Handler) -> Callable[[Brief, AttemptContext, Desk], Awaitable[AttemptResult | HandedOver]]:
    """The same stage, for the issue as it was read last."""

    async def work(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult | HandedOver:
        return await handler(await tell_issue(brief, context, desk), context)

    return work


async def integrate_issue(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult:
    """As `integrate_change`; what is shown although it fails is not refused because it does."""
    told = await tell_issue(brief, context, desk)
    if not await find_known_failure(brief, desk):
        return await integrate_change(told, context)
    unchecked = replace(context, rules=replace(context.rules, profile=Profile()))
    return await integrate_change(replace(told, item=replace(told.item, test_steps=())), unchecked)


async def tell_issue(brief: Brief, context: AttemptContext, desk: Desk) -> Brief:
    """The attempt, with the issue as its task and the strategy as its instructions."""
    spec = await load_spec(brief, desk)
    item = make_item(spec, brief.item.id)
    approach, judgement = choose_strategy(spec).approach, judge_spec(spec, context)
    assumed = tuple(f"Nobody has said so, but take it for granted: {each}" for each in judgement.assumptions)
    instructions = {**brief.instructions, "before_start": list_points(review_spec(spec))}
    instructions["during_work"] = (*approach.steps, *assumed)
    return replace(brief, item=item, instructions=instructions)
