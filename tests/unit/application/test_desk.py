"""What a stage of the pipeline `forge` comes to when the forge does not do what it should."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from whilly.application.forging.desk import at
from whilly.domain.attempt import AttemptResult, Outcome
from whilly.domain.errors import BadResponse, NotAuthorized, Unavailable, WhillyError
from whilly.domain.flow.brief import Brief
from whilly.domain.flow.lifecycle import BACKOFF
from whilly.domain.flow.pipeline import Stage
from whilly.domain.flow.run import Run
from whilly.domain.ids import CommitId, ItemId, PlanId, RunId
from whilly.domain.work_item import WorkItem

if TYPE_CHECKING:
    from whilly.application.attempt_context import AttemptContext
    from whilly.application.forging.desk import Desk

HEAD = CommitId("c" * 40)


@pytest.mark.parametrize(
    ("error", "outages", "outcome"),
    [
        (Unavailable("502"), 0, Outcome.UNAVAILABLE),
        (BadResponse("it has no head.sha"), len(BACKOFF) - 1, Outcome.UNAVAILABLE),
        (Unavailable("502"), len(BACKOFF), Outcome.BLOCKED),
        (BadResponse("it has no head.sha"), len(BACKOFF), Outcome.BLOCKED),
        (NotAuthorized("the token has ended"), 0, Outcome.BLOCKED),
    ],
)
async def test_no_work_is_lost_by_a_bad_day_of_a_forge(error: WhillyError, outages: int, outcome: Outcome) -> None:
    run = Run(RunId("r-1"), PlanId("p"), ItemId("ada/engine#1"), "forge", "pull_request", outages=outages, head=HEAD)
    brief = Brief(run, Stage("pull_request", "feedback", action="publish"), WorkItem(run.item, "x"), "/h", "b", "t")

    async def stage(_brief: Brief, _context: AttemptContext, _desk: Desk) -> AttemptResult:
        raise error

    found = await at(cast("Desk", None), stage)(brief, cast("AttemptContext", None))
    assert isinstance(found, AttemptResult)
    assert (found.outcome, found.commit) == (outcome, HEAD)
    assert ("whilly forge ada/engine#1" in found.reason) == (outcome is Outcome.BLOCKED)
