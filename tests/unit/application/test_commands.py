"""Which commands a change has to pass."""

from __future__ import annotations

import pytest

from whilly.application.verify_change import commands_for
from whilly.domain.change import CheckCommand
from whilly.domain.flow.brief import Brief, Profile
from whilly.domain.flow.pipeline import Stage
from whilly.domain.flow.run import Run
from whilly.domain.ids import ItemId, PlanId, RunId
from whilly.domain.work_item import WorkItem

PROFILE = Profile(verify=(CheckCommand("pytest"),), repair_verify=(CheckCommand("pytest --lf"),))


@pytest.mark.parametrize(("stage", "runs"), [("repair", 2), ("mend", 2), ("address", 1)])
def test_after_a_repair_its_own_commands_come_first(stage: str, runs: int) -> None:
    run = Run(RunId("r-1"), PlanId("p"), ItemId("i"), "forge", "verify", rounds={stage: 1})
    brief = Brief(run, Stage("verify", ""), WorkItem(ItemId("i"), "x"), "/h", "b", "t")
    assert [each.run for each in commands_for(brief, PROFILE)] == ["pytest --lf", "pytest"][-runs:]
