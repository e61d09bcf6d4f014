"""A real ledger that a test moves by hand: items are started and ended as the test says, without any agent."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from whilly.adapters.memory.clock import ManualClock
from whilly.application.live import Live
from whilly.bootstrap import Project, open_project
from whilly.domain.attempt import AttemptResult, Outcome, Usage
from whilly.domain.flow.plan_run import Limits
from whilly.domain.ids import CommitId, PlanId
from whilly.domain.plan import Plan
from whilly.engine.ledger import Ledger, Offer
from whilly.engine.observer import Observer
from whilly.engine.planning import Planning

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from whilly.domain.flow.run import Run
    from whilly.domain.work_item import WorkItem

PLAN = PlanId("plan-staged")
PASSED = AttemptResult(Outcome.COMPLETED, commit=CommitId("c0ffee" * 6 + "abcd"))


@dataclass
class StagedPlan:
    """One plan in the ledger of a repository."""

    project: Project
    plan: Plan
    ledger: Ledger
    planning: Planning
    clock: ManualClock
    live: Live = field(init=False)

    def __post_init__(self) -> None:
        self.live = Live(self.clock)

    @classmethod
    def make(cls, root: Path, items: Sequence[WorkItem], name: str = "Staged") -> StagedPlan:
        """A plan of these items, imported; `root` is a git repository."""
        project, clock = open_project(root), ManualClock()
        plan = Plan(PLAN, name, "staged", str(root / "tasks.json"), tuple(items))
        ledger = Ledger(project.database, clock, project.pipelines, lambda *_: None, project.checkpoint)
        planning = Planning(ledger, project.pipelines)
        planning.import_plan(plan)
        return cls(project, plan, ledger, planning, clock)

    def begin(self, parallel: int = 3, budget: Decimal | None = None) -> None:
        """Work on the plan begins."""
        self.ledger.begin(PLAN, Limits(parallel=parallel, budget=budget), base="main", target="whilly/staged")

    def run(self, item: str) -> Run:
        """The newest run of an item."""
        row = next(row for row in self.project.reading.items(PLAN) if row.item.id == item)
        if row.run is None:
            message = f"{item} has no run"
            raise AssertionError(message)
        return row.run

    def start(self, item: str, agent: str = "demo", reserved: str = "1") -> int:
        """Start the item's next attempt; its number."""
        run = self.run(item)
        stage = self.project.reading.position(run.id).stage
        offer = Offer(agent, Decimal(reserved)) if stage.is_agent else Offer()
        self.ledger.claim(run.id, PLAN, offer)
        return self.run(item).attempt

    def end(self, item: str, result: AttemptResult = PASSED, cost: str | None = None) -> Run:
        """End the item's attempt under way; the run after it."""
        run = self.run(item)
        usage = Usage(Decimal(cost), 1000, 50, 200, 20, 3) if cost is not None else result.usage
        told = AttemptResult(
            result.outcome,
            result.reason,
            usage,
            result.session,
            result.commit,
            result.evidence,
            result.retry_at,
            result.outside_claims,
        )
        return self.ledger.end_attempt(run.id, PLAN, run.attempt, told)

    def finish(self, item: str, cost: str = "0.25") -> None:
        """Take the item all the way to done."""
        for _ in range(3):
            self.start(item)
            self.end(item, cost=cost if self.project.reading.position(self.run(item).id).stage.is_agent else None)
        if not self.run(item).is_ended:
            message = f"{item} is not done: {self.run(item)}"
            raise AssertionError(message)

    def fail(self, item: str, result: AttemptResult) -> None:
        """Give the item this result again and again until it has failed."""
        while not self.run(item).is_ended:
            self.start(item)
            self.end(item, result)

    def observer(self, *, after: int | None = None) -> Observer:
        """One who watches the plan by the test's clock."""
        reading = self.project.reading
        return Observer(self.project.database, reading, PLAN, self.clock, self.live, after=after)
