"""Whether an issue has to wait for others, as it says itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from whilly.domain.attempt import AttemptResult, Outcome
from whilly.domain.errors import NotFound
from whilly.domain.forge.issue import IssueState
from whilly.domain.intake.task_name import find_dependency

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whilly.application.forging.desk import Desk
    from whilly.domain.forge.reference import IssueRef

MOST: Final = 20
"""How many are looked at; more is a list of something else."""


async def wait_for_others(dependencies: Sequence[str], desk: Desk) -> AttemptResult | None:
    """The wait for issues that this one depends on; None when all of them are closed.

    Args:
        dependencies: as the issue names them. What is no issue of the same tracker cannot be looked at.
        desk: the issue's.
    """
    named = {text: find_dependency(text, desk.ref, desk.places) for text in dependencies[:MOST]}
    refs = dict.fromkeys(ref for ref in named.values() if ref is not None and ref.place == desk.ref.place)
    waits = [told for ref in refs if ref != desk.ref and (told := await _say_why(ref, desk))]
    if not waits:
        return None
    how = f"take it out of the issue, or close it; then: whilly forge {desk.ref.short}"
    return AttemptResult(Outcome.BLOCKED, f"it depends on {', '.join(waits)} → {how}"[:1000])


async def _say_why(ref: IssueRef, desk: Desk) -> str:
    """Why an issue is waited for; empty when it is closed."""
    try:
        issue = await desk.tracker.fetch_issue(ref)
    except NotFound:
        return f"{ref.short}, which is not there"
    return "" if issue.state is IssueState.CLOSED else f"{ref.short}, which is open ({issue.status})"
