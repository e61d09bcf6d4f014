"""The stages `normalize`, `readiness`, `challenge` and `strategy`: what is wanted, whether to begin it, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.application.forging.ask_people import CLARIFY, ask_author, refuse
from whilly.application.forging.assess_issue import CHALLENGE, OPINION, READINESS, scope_of
from whilly.application.forging.desk import Asking
from whilly.application.forging.ingest_issue import fetch_issue, load_spec, refuse_closed
from whilly.application.forging.plan_work import find_answer
from whilly.application.forging.records import PLAN
from whilly.domain.attempt import AttemptResult, Outcome
from whilly.domain.challenge.describe import describe_challenge
from whilly.domain.challenge.review import review_spec
from whilly.domain.flow.action import Branch
from whilly.domain.intake.readiness import Readiness, describe_readiness, judge
from whilly.domain.intake.spec import describe_spec, make_item
from whilly.domain.intake.strategy import choose_strategy, describe_strategy
from whilly.domain.planning.parts import is_large

if TYPE_CHECKING:
    from whilly.application.attempt_context import AttemptContext
    from whilly.application.forging.desk import Desk
    from whilly.domain.flow.brief import Brief
    from whilly.domain.intake.spec import IssueSpec
    from whilly.domain.intake.strategy import Approach

SPEC, STRATEGY = "issue_spec", "strategy"


async def normalize(brief: Brief, _context: AttemptContext, desk: Desk) -> AttemptResult:
    """Completed when every part of the issue is in its field."""
    spec = await load_spec(brief, desk)
    await desk.artefacts.save(brief.run.id, SPEC, describe_spec(spec))
    return AttemptResult(Outcome.COMPLETED, f"{spec.task_type} ({spec.confidence:.2f})")


async def check_readiness(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult:
    """Completed when the issue can be begun; otherwise its people are asked, once, and it waits for them.

    It is read anew each time: who answers a question edits it, or comments.
    """
    issue = await fetch_issue(brief, desk)
    if closed := refuse_closed(issue):
        return closed
    await normalize(brief, context, desk)
    judgement = judge(await load_spec(brief, desk), scope_of(context))
    await desk.artefacts.save(brief.run.id, READINESS, describe_readiness(judgement))
    if judgement.state is not Readiness.BLOCKED:
        if CLARIFY in issue.labels:
            await desk.tracker.set_labels(desk.ref, [], [CLARIFY])
        return AttemptResult(Outcome.COMPLETED, str(judgement.state))
    return await ask_author(brief, context, desk, judgement)


async def challenge(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult:
    """Completed when nothing speaks against doing it; what has to be answered first goes into the agent's task.

    A rejection waits for a person; who lets the run go on with the same objections has decided. If the settings want
    one, an agent's opinion comes next.
    """
    made = review_spec(await load_spec(brief, desk))
    await desk.artefacts.save(brief.run.id, CHALLENGE, describe_challenge(made))
    if refused := await refuse(brief, context, desk, made):
        return refused
    reason, branch = f"{made.verdict}: {made.reason}"[:500], ""
    if desk.issues.second_opinion:
        branch = Branch.WEIGH if await find_answer(brief, desk, OPINION) else Branch.OPINION
    return AttemptResult(Outcome.COMPLETED, reason, commit=brief.run.head, branch=branch)


async def select_strategy(brief: Brief, _context: AttemptContext, desk: Desk) -> AttemptResult:
    """Completed when it is known how the issue is worked on, and whether an agent is asked for a plan before."""
    spec = await load_spec(brief, desk)
    choice = choose_strategy(spec)
    await desk.artefacts.save(brief.run.id, STRATEGY, describe_strategy(choice))
    branch = await _find_branch(brief, desk, spec, choice.approach)
    reason = f"{choice.approach.strategy}: {choice.why}"[:500]
    return AttemptResult(Outcome.COMPLETED, reason, commit=brief.run.head, branch=branch)


async def _find_branch(brief: Brief, desk: Desk, spec: IssueSpec, approach: Approach) -> str:
    """Where it goes on; empty is the plan by the rules."""
    if await desk.parts.find(brief.run.plan, brief.item.id):
        return Branch.PARTS
    if desk.issues.plan is Asking.NEVER or await find_answer(brief, desk, PLAN):
        return ""
    is_wanted = approach.needs_plan or is_large(make_item(spec, brief.item.id))
    return Branch.PROPOSE if is_wanted or desk.issues.plan is Asking.ALWAYS else ""
