"""The stages `propose`, `plan`, `parts` and `gather`: what is going to be done, and a large issue done in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whilly.application.ask_agent import ask_agent
from whilly.application.forging.ingest_issue import find_digest, load_spec
from whilly.application.forging.records import PLAN, find_head
from whilly.domain.attempt import AttemptResult, Evidence, Outcome
from whilly.domain.challenge.review import review_spec
from whilly.domain.flow.action import Branch
from whilly.domain.flow.brief import HandedOver
from whilly.domain.flow.run import PARTS
from whilly.domain.intake.spec import make_item
from whilly.domain.intake.strategy import choose_strategy
from whilly.domain.planning.parts import divide, judge_parts
from whilly.domain.planning.work_plan import WorkPlan, describe_plan, plan_by_rules, read_proposal, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from decimal import Decimal

    from whilly.application.attempt_context import AttemptContext
    from whilly.application.forging.desk import Desk
    from whilly.domain.flow.brief import Brief
    from whilly.domain.intake.spec import IssueSpec
    from whilly.domain.work_item import WorkItem


async def ask(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult:
    """Completed when an agent has said something about the issue; what that is worth is another question."""

    async def keep(text: str) -> None:
        issue = await find_digest(brief, desk)
        document = {"version": 1, "attempt": brief.run.attempt, "agent": brief.agent, "issue": issue, "text": text}
        await desk.artefacts.save(brief.run.id, f"said_{brief.stage.answer}", document)

    return await ask_agent(brief, context, keep)


async def find_answer(brief: Brief, desk: Desk, answer: str) -> Mapping[str, Any] | None:
    """What an agent has said about the issue as it is; None when nobody was asked, or it was changed since."""
    said = await desk.artefacts.load(brief.run.id, f"said_{answer}")
    return said if said is not None and said["issue"] == await find_digest(brief, desk) else None


async def plan_work(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult:
    """Completed when it is written down what is going to be done: by the rules, and as an agent has proposed it.

    A proposal that cannot be used goes back to the agent with what is wrong about it; the plan by the rules is there
    in any case.
    """
    spec = await load_spec(brief, desk)
    rules = _plan_by_rules(spec, context)
    said = await find_answer(brief, desk, PLAN)
    spent = (await desk.parts.count_spent(brief.run.plan)).usd
    found = _read(said, rules, make_item(spec, brief.item.id), desk, spent) if said else (rules, ())
    if isinstance(found, str):
        await _write(brief, desk, refuse(rules, found))
        summary = f"the plan that was proposed cannot be used: {found.splitlines()[0]}"[:500]
        evidence = Evidence(summary, output=found)
        return AttemptResult(Outcome.REJECTED, summary, commit=brief.run.head, evidence=evidence)
    plan, proposed = found
    parts = divide(make_item(spec, brief.item.id), proposed, choose_strategy(spec).approach.steps)
    await _write(brief, desk, plan, parts)
    if parts:
        await desk.parts.add(brief.run.plan, parts)
    told = f"by {plan.made_by}" + (f", in {len(parts)} parts" if parts else "")
    return AttemptResult(Outcome.COMPLETED, told, commit=brief.run.head, branch=Branch.PARTS if parts else "")


def _read(
    said: Mapping[str, Any], rules: WorkPlan, whole: WorkItem, desk: Desk, spent: Decimal
) -> tuple[WorkPlan, tuple[WorkItem, ...]] | str:
    """The plan that an agent has proposed, and its parts; otherwise what is wrong with it."""
    proposal = read_proposal(said["text"], said["agent"], rules)
    if isinstance(proposal, str):
        return proposal
    parts = desk.divider.take_apart(whole, proposal.tasks, spent) if proposal.tasks else ()
    return parts if isinstance(parts, str) else (proposal.plan, parts)


def _plan_by_rules(spec: IssueSpec, context: AttemptContext) -> WorkPlan:
    commands = [each.run for each in context.rules.profile.verify]
    return plan_by_rules(spec, choose_strategy(spec).approach, review_spec(spec), commands)


async def _write(brief: Brief, desk: Desk, plan: WorkPlan, parts: Sequence[WorkItem] = ()) -> None:
    document = describe_plan(plan, parts, issue=await find_digest(brief, desk), branch=brief.target)
    await desk.artefacts.save(brief.run.id, PLAN, document)


async def follow_parts(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult | HandedOver:
    """Completed when all parts are on the issue's branch; until then it is in their hands, and takes no slot."""
    if halt := context.line.halt():
        return AttemptResult(halt.outcome, halt.reason, is_deliberate=True)
    standing = judge_parts(await desk.parts.find(brief.run.plan, brief.item.id), brief.item.id)
    if standing.is_done:
        return AttemptResult(Outcome.COMPLETED, standing.reason, commit=brief.run.head)
    if standing.goes_on:
        return HandedOver(PARTS, standing.reason)
    return AttemptResult(Outcome.BLOCKED, standing.reason, commit=brief.run.head)


async def gather_parts(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult:
    """Completed with the commit that has all parts: from here on, they are what is there."""
    if lost := await _find_lost(brief, context, desk):
        return AttemptResult(Outcome.BLOCKED, lost, commit=brief.run.head)
    planned = await desk.artefacts.load(brief.run.id, PLAN) or {}
    is_changed = planned.get("issue", "") not in {"", await find_digest(brief, desk)}
    return AttemptResult(Outcome.COMPLETED, commit=brief.base, branch=Branch.ANEW if is_changed else "")


async def _find_lost(brief: Brief, context: AttemptContext, desk: Desk) -> str:
    """What of the parts' work the branch does not hold any more, and what to do; empty when it holds all.

    Only until it was pushed: later it may have been put on another base, as one commit.
    """
    if await find_head(brief, desk) is not None:
        return ""
    done = [(part.item.id, part.commit) for part in await desk.parts.find(brief.run.plan, brief.item.id) if part.commit]
    repository, base = context.ports.repository, brief.base
    lost = [(part, commit) for part, commit in done if not await repository.is_ancestor(commit, base)]
    if not lost:
        return ""
    named = ", ".join(f"{part} ({commit[:12]})" for part, commit in lost)
    how = f"git branch -f {brief.target} COMMIT, or merge it there; then: whilly forge {brief.item.id}"
    return f"{brief.target} does not hold the work of {named} any more; somebody has moved it → {how}"[:1000]
