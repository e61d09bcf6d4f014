"""What is thought of an issue: by the rules, and by the agent that was asked for its opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.application.forging.plan_work import find_answer
from whilly.domain.intake.rules import Scope
from whilly.domain.planning.opinion import Opinion, assess, read_opinion

if TYPE_CHECKING:
    from whilly.application.attempt_context import AttemptContext
    from whilly.application.forging.desk import Desk
    from whilly.domain.flow.brief import Brief
    from whilly.domain.intake.spec import IssueSpec
    from whilly.domain.planning.opinion import Assessment

READINESS, CHALLENGE, OPINION = "readiness", "challenge", "opinion"


async def find_opinion(brief: Brief, desk: Desk, spec: IssueSpec) -> Opinion | str | None:
    """What an agent thinks of the issue as it is; why its answer cannot be used; None when there is none."""
    said = await find_answer(brief, desk, OPINION) if desk.issues.second_opinion else None
    return read_opinion(said["text"], said["agent"], spec) if said else None


async def find_usable(brief: Brief, desk: Desk, spec: IssueSpec) -> Opinion | None:
    """What an agent thinks of the issue as it is; None when there is nothing that could be used."""
    opinion = await find_opinion(brief, desk, spec)
    return opinion if isinstance(opinion, Opinion) else None


async def assess_issue(brief: Brief, context: AttemptContext, desk: Desk, spec: IssueSpec) -> Assessment:
    """What is missing in an issue and what speaks against it, whoever has found it."""
    return assess(spec, scope_of(context), await find_usable(brief, desk, spec))


def scope_of(context: AttemptContext) -> Scope:
    """What the repository allows."""
    return Scope(context.rules.profile.allowed_paths, context.rules.profile.forbidden_paths)
