"""What the pull request of a run tells: what was wanted, what was done, and how it was checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.application.forging.assess_issue import assess_issue
from whilly.application.forging.ingest_issue import load_spec
from whilly.application.forging.records import name_pull
from whilly.application.forging.work_on_issue import tell_issue
from whilly.application.verify_change import commands_for
from whilly.domain.challenge.review import list_points
from whilly.domain.delivery.draft import find_draft_reasons
from whilly.domain.delivery.pull_request_text import CAPS, Checked, Source, Story, compose_body, compose_title
from whilly.domain.failure.verdict import Ruling, Verdict
from whilly.domain.forge.pull_request import PullDraft
from whilly.domain.intake.strategy import choose_strategy

if TYPE_CHECKING:
    from whilly.application.attempt_context import AttemptContext
    from whilly.application.forging.desk import Desk
    from whilly.domain.flow.brief import Brief
    from whilly.domain.intake.spec import IssueSpec

MAX_PATHS = 50


async def compose_pull_request(brief: Brief, context: AttemptContext, desk: Desk) -> PullDraft:
    """What is to be there on the forge; each of its checks has passed on the commit that is pushed."""
    spec = await load_spec(brief, desk)
    told = await tell_issue(brief, context, desk)
    choice, assessment = choose_strategy(spec), await assess_issue(brief, context, desk, spec)
    judgement = assessment.judgement
    reasons = find_draft_reasons(judgement, choice.approach, Ruling(Verdict.PASS, "every check passed"))
    is_draft = bool(reasons) if desk.rules.is_draft is None else desk.rules.is_draft
    source = _source(desk, spec)
    story = Story(
        source=source,
        what=await _list_paths(brief, context),
        why=spec.problem or spec.title,
        checks=tuple(Checked(each.run, has_passed=True) for each in commands_for(told, context.rules.profile)),
        criteria=tuple((each.text, each.is_done) for each in spec.criteria),
        risks=list_points(assessment.review),
        assumptions=judgement.assumptions,
        strategy=str(choice.approach.strategy),
        run=brief.run.id,
        attempts=brief.run.attempt,
        cost_usd=brief.spent_usd,
        draft_because=reasons if is_draft else (),
    )
    caps = CAPS[desk.provider]
    return PullDraft(
        repository=desk.repository,
        key=name_pull(brief, desk),
        head=brief.target,
        base=desk.base,
        title=compose_title(source, caps.title),
        body=compose_body(story, caps.body),
        is_draft=is_draft,
        labels=desk.rules.labels,
        reviewers=desk.rules.reviewers,
    )


def _source(desk: Desk, spec: IssueSpec) -> Source:
    closing = f"#{desk.ref.number}" if desk.is_own_tracker else ""
    return Source(desk.ref.short, spec.title, spec.url, closing)


async def _list_paths(brief: Brief, context: AttemptContext) -> str:
    head = brief.run.head
    paths = await context.ports.repository.changed_paths(brief.base, head) if head and brief.base else ()
    more = [f"- … and {len(paths) - MAX_PATHS} more"] if len(paths) > MAX_PATHS else []
    return "\n".join(["Changed:", "", *(f"- `{path}`" for path in paths[:MAX_PATHS]), *more])
