"""The stages of agents and checks, told what the issue wants instead of what the plan says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from whilly.application.forging.assess_issue import OPINION, find_usable, scope_of
from whilly.application.forging.ingest_issue import load_spec
from whilly.application.forging.plan_work import ask
from whilly.application.forging.records import PLAN
from whilly.application.forging.rounds import find_known_failure
from whilly.application.integrate_change import integrate_change
from whilly.domain.attempt import AttemptResult, Evidence, Outcome
from whilly.domain.challenge.review import list_points, review_spec
from whilly.domain.flow.brief import Profile
from whilly.domain.intake.readiness import judge
from whilly.domain.intake.spec import make_item
from whilly.domain.intake.strategy import choose_strategy
from whilly.domain.planning.opinion import describe_question, tell_opinion
from whilly.domain.planning.work_plan import tell_plan

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from whilly.application.attempt_context import AttemptContext
    from whilly.application.forging.desk import Desk, Stage
    from whilly.domain.flow.brief import Brief, HandedOver

    Handler = Callable[[Brief, AttemptContext], Awaitable[AttemptResult | HandedOver]]


def for_parts(of_part: Handler, of_whole: Stage) -> Stage:
    """A stage that an issue and its parts have; a part is worked on like a task of a plan file."""

    async def work(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult | HandedOver:
        return await (of_part(brief, context) if brief.item.parent else of_whole(brief, context, desk))

    return work


def ask_or(work: Handler) -> Stage:
    """A stage with an agent: it is asked for an answer, or makes a change."""

    async def act(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult | HandedOver:
        told = await tell_agent(brief, context, desk)
        if not brief.stage.answer:
            return await work(told, context)
        # How the work is done concerns whoever does it.
        told = replace(told, instructions={**told.instructions, "during_work": ()})
        result = await ask(told, context, desk)
        # Who is asked again learns what became of the last time.
        failed = result.outcome is not Outcome.COMPLETED and result.evidence is None
        return replace(result, evidence=Evidence(result.reason[:500])) if failed else result

    return act


def hand_over_or_skip(hand: Handler) -> Stage:
    """The same where a person works instead of an agent: they need nobody's plan."""

    async def act(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult | HandedOver:
        if brief.stage.answer:
            return AttemptResult(Outcome.COMPLETED, "a person does it", commit=brief.run.head)
        return await hand(await tell_agent(brief, context, desk), context)

    return act


async def integrate_issue(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult:
    """As `integrate_change`; what is shown although it fails is not refused because it does."""
    told = await tell_issue(brief, context, desk)
    if not await find_known_failure(brief, desk):
        return await integrate_change(told, context)
    unchecked = replace(context, rules=replace(context.rules, profile=Profile()))
    return await integrate_change(replace(told, item=replace(told.item, test_steps=())), unchecked)


async def tell_agent(brief: Brief, context: AttemptContext, desk: Desk) -> Brief:
    """The same for an agent, or a person in its place, with what agents have said before it.

    That stands where the issue stands: it is data.
    """
    told, spec = await tell_issue(brief, context, desk), await load_spec(brief, desk)
    plan = tell_plan(await desk.artefacts.load(brief.run.id, PLAN))
    said = filter(None, (told.item.description, tell_opinion(await find_usable(brief, desk, spec)), plan))
    return replace(told, item=replace(told.item, description="\n\n".join(said)))


async def tell_issue(brief: Brief, context: AttemptContext, desk: Desk) -> Brief:
    """The attempt, with the issue as its task and the strategy as its instructions."""
    spec = await load_spec(brief, desk)
    item = make_item(spec, brief.item.id)
    approach, judgement = choose_strategy(spec).approach, judge(spec, scope_of(context))
    assumed = tuple(f"Nobody has said so, but take it for granted: {each}" for each in judgement.assumptions)
    instructions = {**brief.instructions, "before_start": list_points(review_spec(spec))}
    instructions["during_work"] = (*approach.steps, *assumed)
    instructions |= {
        "checks": tuple(each.run for each in context.rules.profile.verify),
        **desk.divider.describe_bounds(),
    }
    if brief.stage.answer == OPINION:
        instructions |= describe_question(spec)
    return replace(brief, item=item, instructions=instructions)
