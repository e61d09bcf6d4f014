"""What pipelines may say of actions is what somebody carries out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, cast

from whilly.bootstrap import open_project
from whilly.cli.forge.case import Case
from whilly.cli.prd.produce import _actions
from whilly.config.pipelines import load_pipelines
from whilly.domain.flow.action import list_actions
from whilly.testing.scratch import ScratchRepository

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.application.forging.desk import Desk
    from whilly.application.prd.order import Order
    from whilly.domain.forge.issue import Issue
    from whilly.engine.driving.driver import Handler

# Who carries something out is asked for, and nobody carries anything out.
NOBODY: object = None
REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "pipelines.md"
AGENTS = {"", "handoff"}


def test_every_action_of_a_pipeline_has_somebody_who_carries_it_out_and_nobody_has_another(tmp_path: Path) -> None:
    own: Mapping[str, Mapping[str, Handler]] = {
        "solo": {},
        "forge": Case(cast("Issue", NOBODY), cast("Desk", NOBODY)).actions(),
        "prd": _actions(cast("Order", NOBODY)),
    }
    project = open_project(ScratchRepository.make(tmp_path).root)
    handlers = {name: set(project._staff(actions).handlers) for name, actions in own.items()}
    assert handlers == {name: {*list_actions(name), *AGENTS} for name in own}


def test_the_reference_names_every_action_and_its_branches() -> None:
    reference = REFERENCE.read_text(encoding="utf-8").partition("## Actions")[2]
    of_all = {name: list_actions(name) for name in ("solo", "forge", "prd")}
    assert {name for actions in of_all.values() for name in actions if f"`{name}`" not in reference} == set()
    rows = {
        action: ", ".join(f"`branch.{each}`" for each in sorted(to)) for action, to in of_all["forge"].items() if to
    }
    told = dict(re.findall(r"^\| `(\w+)` \| ((?:`branch\.\w+`(?:, )?)+) \|", reference, re.MULTILINE))
    assert {action: ", ".join(sorted(to.split(", "))) for action, to in told.items()} == rows


def test_the_packaged_pipelines_follow_every_branch_that_there_is() -> None:
    for name, pipeline in load_pipelines(Path("/nowhere"), max_attempts=3).items():
        followed = {stage.action: set(stage.branches) for stage in pipeline.stages.values() if stage.branches}
        assert followed == {action: set(branches) for action, branches in list_actions(name).items() if branches}
