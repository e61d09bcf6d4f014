"""The stage `weigh`: what an agent thinks of the issue is added to what the rules found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whilly.application.forging.ask_people import CLARIFY, ask_author, refuse
from whilly.application.forging.assess_issue import CHALLENGE, OPINION, READINESS, find_opinion, scope_of
from whilly.application.forging.desk import Without
from whilly.application.forging.ingest_issue import find_digest, find_edit, load_spec
from whilly.domain.attempt import AttemptResult, Evidence, Outcome
from whilly.domain.challenge.describe import describe_challenge
from whilly.domain.intake.readiness import Readiness, describe_readiness
from whilly.domain.planning.opinion import Opinion, assess, describe_opinion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.application.attempt_context import AttemptContext
    from whilly.application.forging.desk import Desk
    from whilly.domain.flow.brief import Brief
    from whilly.domain.planning.opinion import Assessment

NOBODY = "whoever was asked gives no opinions"


async def weigh_opinion(brief: Brief, context: AttemptContext, desk: Desk) -> AttemptResult:
    """Completed when the issue can be begun by the rules and by the opinion; otherwise its people are asked.

    An answer that cannot be used is asked for once more, and then the settings say whether it is done without. A
    conflict when the issue was changed since: nobody has looked at what it is now.
    """
    if edit := await find_edit(brief, desk):
        return AttemptResult(Outcome.CONFLICT, edit, commit=brief.run.head, evidence=Evidence(edit))
    spec = await load_spec(brief, desk)
    opinion = await find_opinion(brief, desk, spec)
    if isinstance(opinion, Opinion) or not desk.issues.second_opinion:
        used = opinion if isinstance(opinion, Opinion) else None
        made = assess(spec, scope_of(context), used)
        await _write(brief, desk, made, used, "the settings want none")
        if used is None:
            # Its questions are not asked any more.
            await desk.tracker.set_labels(desk.ref, [], [CLARIFY])
        return await _conclude(brief, context, desk, made)
    why = await _do_without(brief, desk, opinion)
    if isinstance(why, AttemptResult):
        return why
    made = assess(spec, scope_of(context))
    await _write(brief, desk, made, None, why)
    if await _waits(brief, desk):
        how = f"to go on without, whilly forge {desk.ref.short} once more"
        reason = f"no second opinion: {why} → {how}"[:1000]
        return AttemptResult(Outcome.BLOCKED, reason, commit=brief.run.head, whom="person")
    result = await _conclude(brief, context, desk, made)
    return result if result.outcome is not Outcome.COMPLETED else _tell(brief, f"no second opinion: {why}")


async def _conclude(brief: Brief, context: AttemptContext, desk: Desk, made: Assessment) -> AttemptResult:
    """The end of the rules' stages, for what was found altogether."""
    if made.judgement.state is Readiness.BLOCKED:
        return await ask_author(brief, context, desk, made.judgement)
    refused = await refuse(brief, context, desk, made.review)
    return refused or _tell(brief, f"{made.judgement.state}; {made.review.verdict}: {made.review.reason}")


def _tell(brief: Brief, reason: str) -> AttemptResult:
    return AttemptResult(Outcome.COMPLETED, reason[:500], commit=brief.run.head)


async def _write(brief: Brief, desk: Desk, made: Assessment, opinion: Opinion | None, why: str) -> None:
    told = {**describe_readiness(made.judgement), "opinion": describe_opinion(opinion, why)}
    await desk.artefacts.save(brief.run.id, READINESS, told)
    await desk.artefacts.save(brief.run.id, CHALLENGE, describe_challenge(made.review))


async def _do_without(brief: Brief, desk: Desk, fault: str | None) -> AttemptResult | str:
    """Why there is no opinion; a rejection when the agent is to be asked once more.

    Each attempt is remembered by its number, so that one that was killed and is gone on with counts once.
    """
    failed = brief.run.evidence.summary if brief.run.evidence else ""
    known = await _load(brief, desk)
    number = str(brief.run.attempt)
    faults = known["faults"]
    if known["waited"] and known["waited"] != brief.run.attempt:
        return str(list(faults.values())[-1])
    faults = {**faults, number: failed or fault or NOBODY}
    await desk.artefacts.save(brief.run.id, OPINION, {**known, "faults": faults})
    why = str(faults[number])
    if list(faults) != [number] or why == NOBODY:
        return why
    summary = f"the opinion cannot be used: {why}"[:500]
    return AttemptResult(Outcome.REJECTED, summary, commit=brief.run.head, evidence=Evidence(summary))


async def _waits(brief: Brief, desk: Desk) -> bool:
    """Whether a person has to let it go on; once for the issue as it is."""
    known = await _load(brief, desk)
    if desk.issues.without is Without.GO_ON or known["waited"] not in {0, brief.run.attempt}:
        return False
    await desk.artefacts.save(brief.run.id, OPINION, {**known, "waited": brief.run.attempt})
    return True


async def _load(brief: Brief, desk: Desk) -> dict[str, Any]:
    """What has become of asking for an opinion of the issue as it is."""
    issue = await find_digest(brief, desk)
    known: Mapping[str, Any] = await desk.artefacts.load(brief.run.id, OPINION) or {}
    fresh = {"version": 1, "issue": issue, "faults": {}, "waited": 0}
    return {**fresh, **known} if known.get("issue") == issue else fresh
