"""What the pull request of a run tells: what was wanted, what was done, and how it was checked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from whilly.application.forging.assess_issue import assess_issue
from whilly.application.forging.ingest_issue import load_spec
from whilly.application.forging.records import PLAN, find_fork, name_pull
from whilly.application.forging.rounds import find_last
from whilly.application.forging.work_on_issue import tell_issue
from whilly.application.verify_change import commands_for
from whilly.domain.challenge.review import list_points
from whilly.domain.delivery.draft import find_draft_reasons
from whilly.domain.delivery.proof import see_extents, tell_risks
from whilly.domain.delivery.pull_request_text import CAPS, Checked, Source, Story, compose_body, compose_title
from whilly.domain.failure.verdict import Ruling, Verdict
from whilly.domain.forge.pull_request import PullDraft
from whilly.domain.intake.strategy import choose_strategy
from whilly.domain.trust.policy import Consequence
from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whilly.application.attempt_context import AttemptContext
    from whilly.application.forging.desk import Desk
    from whilly.domain.delivery.draft import Offer
    from whilly.domain.delivery.round import Round
    from whilly.domain.flow.brief import Brief
    from whilly.domain.ids import CommitId
    from whilly.domain.intake.spec import IssueSpec
    from whilly.domain.intake.strategy import Proof
    from whilly.domain.planning.parts import Part

MAX_PATHS = 50


async def list_reasons(brief: Brief, context: AttemptContext, desk: Desk) -> tuple[str, ...]:
    """Why the pull request is to be a draft, whoever has decided what about it."""
    spec, last = await load_spec(brief, desk), await find_last(brief, desk)
    judgement = (await assess_issue(brief, context, desk, spec)).judgement
    return find_draft_reasons(judgement, choose_strategy(spec).approach, _rule(last), _list_missing(last))


async def compose_pull_request(
    brief: Brief, context: AttemptContext, desk: Desk, commit: CommitId, offer: Offer
) -> PullDraft:
    """What is to be there on the forge for the branch at this commit; its checks are told as they ended."""
    spec = await load_spec(brief, desk)
    told = await tell_issue(brief, context, desk)
    choice, assessment = choose_strategy(spec), await assess_issue(brief, context, desk, spec)
    judgement = assessment.judgement
    last, base = await find_last(brief, desk), await find_fork(brief, desk) or brief.base
    source, parts = _source(desk, spec), await desk.parts.find(brief.run.plan, brief.item.id)
    planned = await desk.artefacts.load(brief.run.id, PLAN) or {}
    spent = await desk.parts.count_spent(brief.run.plan)
    left_out = _list_left_out(parts)
    points = list_points(assessment.review)
    untold = tell_risks(see_extents(await desk.trees.measure(base, commit)))
    accepted = await _list_accepted(brief, context, base, commit, may_be_in_parts=bool(parts))
    story = Story(
        source=source,
        what="\n".join([await _list_paths(context, base, commit), *_list_parts(parts)]),
        why=spec.problem or spec.title,
        checks=await _tell_checks(last, context, commit) if last else _count_as_passed(told, context),
        proofs=_tell_proofs(last, base) if last else (),
        criteria=tuple((each.text, each.is_done) for each in spec.criteria),
        risks=tuple(
            dict.fromkeys((*left_out, *accepted, *_list_gaps(last), *untold, *points, *_list_planned(planned)))
        ),
        assumptions=judgement.assumptions,
        strategy=str(choice.approach.strategy),
        run=brief.run.id,
        sessions=spent.sessions,
        is_partial=bool(left_out),
        cost_usd=spent.usd,
        draft_because=offer.because,
    )
    caps = CAPS[desk.provider]
    return PullDraft(
        repository=desk.repository,
        key=name_pull(brief, desk),
        head=brief.target,
        base=desk.base,
        title=compose_title(source, caps.title),
        body=compose_body(story, caps.body),
        is_draft=offer.is_draft,
        labels=desk.rules.labels,
        reviewers=desk.rules.reviewers,
    )


def _source(desk: Desk, spec: IssueSpec) -> Source:
    closing = f"#{desk.ref.number}" if desk.is_own_tracker else ""
    return Source(desk.ref.short, spec.title, spec.url, closing)


async def _tell_checks(last: Round, context: AttemptContext, commit: CommitId) -> tuple[Checked, ...]:
    """The checks as they ended; what is known to fail was not checked again when it was put somewhere else."""
    if not last.is_known_to_fail or not await context.ports.repository.changed_paths(last.commit, commit):
        return last.checks
    where = f"on {last.commit[:12]}, the same change on an earlier base"
    return tuple(replace(each, where=where) for each in last.checks)


def _tell_proofs(last: Round, base: CommitId) -> tuple[str, ...]:
    """The proofs that were seen, and on which base when that is an earlier one."""
    when = f" (seen with {last.base[:12]} as the base)" if last.base and last.base != base else ""
    return tuple(f"{how}{when}" for _, how in last.seen)


def _rule(last: Round | None) -> Ruling:
    """What the checks have come to; an earlier Whilly let nothing through that had not passed."""
    return last.ruling if last else Ruling(Verdict.PASS, "every check passed")


def _list_missing(last: Round | None) -> list[tuple[Proof, str]]:
    return [(each.proof, each.why) for each in last.missing] if last else []


def _list_gaps(last: Round | None) -> tuple[str, ...]:
    ruling, missing = _rule(last), _list_missing(last)
    unfinished = (f"it is not finished: {ruling.reason}",) if ruling.verdict is not Verdict.PASS else ()
    return (*unfinished, *(why for _, why in missing))


def _count_as_passed(told: Brief, context: AttemptContext) -> tuple[Checked, ...]:
    """The checks of a run that an earlier Whilly has verified: it let nothing else through."""
    return tuple(Checked(each.run, has_passed=True) for each in commands_for(told, context.rules.profile))


def _list_planned(planned: Mapping[str, Any]) -> tuple[str, ...]:
    """The risks that the plan names."""
    return tuple(map(str, planned.get("risks", ())))


def _list_parts(parts: Sequence[Part]) -> list[str]:
    done = [f"- `{part.item.id}`: {part.item.title}" for part in parts if part.status is ItemStatus.DONE]
    return ["", "In parts:", "", *done] if done else []


def _list_left_out(parts: Sequence[Part]) -> tuple[str, ...]:
    """The parts that a person did not want any more."""
    left = [part for part in parts if part.status is ItemStatus.SKIPPED]
    return tuple(f"{part.item.id} ({part.item.title}) was left out: {part.reason}" for part in left)


async def _list_accepted(
    brief: Brief, context: AttemptContext, base: CommitId, commit: CommitId, *, may_be_in_parts: bool
) -> tuple[str, ...]:
    """What a person had to look at before it went on."""
    if (brief.run.accepted is None and not may_be_in_parts) or context.ports.policy is None:
        return ()
    found = await context.ports.policy.objections(base, commit)
    reviewed = [each for each in found if each.consequence is Consequence.REVIEW]
    return tuple(f"a person has accepted {each}" for each in reviewed[:MAX_PATHS])


async def _list_paths(context: AttemptContext, base: CommitId, commit: CommitId) -> str:
    paths = await context.ports.repository.changed_paths(base, commit)
    more = [f"- … and {len(paths) - MAX_PATHS} more"] if len(paths) > MAX_PATHS else []
    return "\n".join(["Changed:", "", *(f"- `{path}`" for path in paths[:MAX_PATHS]), *more])
