"""What is shown although it fails is integrated as it is, and a repair that comes to nothing is left to the verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import pytest
from typing_extensions import override

from whilly.adapters.memory.artefacts import MemoryArtefacts
from whilly.adapters.memory.parts import MemoryParts
from whilly.adapters.memory.trees import MemoryTrees
from whilly.adapters.planfile.decompose import Bounds, PlanDivider
from whilly.application.attempt_context import AttemptContext, Line, Rules
from whilly.application.forging.desk import Desk
from whilly.application.forging.judging.settle_repair import settling
from whilly.application.forging.rounds import keep_round
from whilly.application.forging.work_on_issue import integrate_issue
from whilly.domain.attempt import AttemptResult, Outcome
from whilly.domain.change import CheckCommand
from whilly.domain.delivery.round import Round
from whilly.domain.failure.verdict import Failure, FailureKind, Ruling, Verdict
from whilly.domain.flow.brief import Brief, Halt, HandedOver, Profile
from whilly.domain.flow.pipeline import Stage
from whilly.domain.flow.run import Run
from whilly.domain.forge.reference import IssueRef
from whilly.domain.ids import CommitId, ItemId, PlanId, RunId
from whilly.domain.work_item import WorkItem
from whilly.testing.world import MAIN, World

if TYPE_CHECKING:
    from whilly.domain.session import Activity

ITEM = ItemId("ada/engine#1")
HEAD = CommitId("c" * 40)
RED = Failure(FailureKind.TEST_FAILED, "a test fails", "f1")


@dataclass
class Wire(Line):
    """Lets everything go on."""

    @override
    def halt(self) -> Halt | None:
        return None

    @override
    def report(self, activity: Activity) -> None:
        raise AssertionError(activity)

    @override
    async def keep_candidate(self, commit: CommitId) -> bool:
        return bool(commit)


@pytest.mark.parametrize(
    ("verdict", "outcome"), [(Verdict.ESCALATE, Outcome.COMPLETED), (Verdict.REPAIR, Outcome.REJECTED)]
)
async def test_what_is_known_to_fail_is_put_on_a_branch_that_moved(verdict: Verdict, outcome: Outcome) -> None:
    world, artefacts = World(""), MemoryArtefacts()
    history = world.history
    base = history.refs[MAIN]
    head = history.make_commit({**history.commits[base].files, "answer.txt": "wrong\n"}, (base,))
    target = history.make_commit({**history.commits[base].files, "other.txt": "x\n"}, (base,))
    history.refs["refs/heads/topic"] = target
    nobody = cast("Any", None)
    ref = IssueRef("local", "ada/engine", "1")
    places = (nobody, nobody, nobody, nobody, artefacts, MemoryParts(), PlanDivider(Bounds()), MemoryTrees(history))
    desk = Desk(ref, "local", "ada/engine", "main", *places)
    issue = {"key": "1", "title": "Wrong", "body": "It is wrong\n\n## Test\n- `grep -q right answer.txt`", "labels": []}
    more = {"comments": [], "url": "", "priority": "", "may_write": True}
    run = Run(RunId("r-1"), PlanId("p"), ITEM, "forge", "integrate", attempt=7, base=base, head=head)
    brief = Brief(run, Stage("integrate", "pull_request"), WorkItem(ITEM, "x"), "/h", "b", "topic")
    await artefacts.save(run.id, "issue", {**issue, **more})
    await keep_round(brief, desk, Round(brief.attempt, head, Ruling(verdict, "no", has_value=True), (RED,)))
    rules = Rules(Profile(verify=(CheckCommand("grep -q right answer.txt"),)))
    context = AttemptContext(world.ports(), rules, Wire(), lambda _name, _values: "")
    result = await integrate_issue(brief, context, desk)
    assert result.outcome is outcome
    moved = history.commits[history.refs["refs/heads/topic"]].files
    assert ("answer.txt" in moved, "other.txt" in moved) == (outcome is Outcome.COMPLETED, True)


@pytest.mark.parametrize(
    ("prompt", "tries", "result", "outcome"),
    [
        ("repair", 0, AttemptResult(Outcome.REJECTED), Outcome.COMPLETED),
        ("repair", 0, AttemptResult(Outcome.NO_PROGRESS), Outcome.NO_PROGRESS),
        ("repair", 1, AttemptResult(Outcome.NO_PROGRESS), Outcome.COMPLETED),
        ("repair", 1, AttemptResult(Outcome.CRASHED), Outcome.COMPLETED),
        ("repair", 1, AttemptResult(Outcome.CRASHED, is_deliberate=True), Outcome.CRASHED),
        ("repair", 1, AttemptResult(Outcome.BLOCKED), Outcome.BLOCKED),
        ("repair", 1, AttemptResult(Outcome.CONFLICT), Outcome.CONFLICT),
        ("execute", 1, AttemptResult(Outcome.NO_PROGRESS), Outcome.NO_PROGRESS),
    ],
)
async def test_the_last_try_of_a_repair_is_left_to_the_verdict(
    prompt: str, tries: int, result: AttemptResult, outcome: Outcome
) -> None:
    async def stage(_brief: Brief, _context: AttemptContext) -> AttemptResult | HandedOver:
        return result

    run = Run(RunId("r-1"), PlanId("p"), ITEM, "forge", prompt, head=HEAD, tries=tries)
    brief = Brief(run, Stage(prompt, "verify", prompt=prompt, attempts=2), WorkItem(ITEM, "x"), "/h", "b", "t")
    found = await settling(stage)(brief, cast("AttemptContext", None))
    assert isinstance(found, AttemptResult)
    assert found.outcome is outcome
    handed = HandedOver("person", "look")

    async def hand(_brief: Brief, _context: AttemptContext) -> AttemptResult | HandedOver:
        return handed

    assert await settling(hand)(replace(brief), cast("AttemptContext", None)) is handed
