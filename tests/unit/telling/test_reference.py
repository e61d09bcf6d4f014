"""The pages about events hold every name that the code can store."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from whilly.application.telling import milestones
from whilly.config.pipelines import load_pipelines
from whilly.domain.attempt import Outcome
from whilly.domain.flow.event import type_names

ROOT = Path(__file__).parents[3]
STORED = re.compile(r"\.note\(\s*\"(\w+)\"")


@pytest.fixture(scope="module")
def page() -> str:
    return (ROOT / "docs" / "reference" / "events.md").read_text(encoding="utf-8")


def test_every_stored_event_is_described(page: str) -> None:
    engine = (ROOT / "src" / "whilly" / "engine").glob("*.py")
    noted = {name for path in engine for name in STORED.findall(path.read_text(encoding="utf-8"))}
    assert "run_ended" in noted
    names = noted | set(type_names) | {f"{name}_refused" for name in type_names}
    assert {name for name in names if f"`{name}`" not in page} == set()


def test_every_milestone_of_the_packaged_pipeline_is_described(page: str, tmp_path: Path) -> None:
    found = {milestones.name_milestone(kind, {"status": "done"}) for kind in ("run_created", "run_ended", "plan_begun")}
    for stage in load_pipelines(tmp_path, max_attempts=3)["solo"].stages:
        found.add(milestones.name_milestone("attempt_started", {"stage": stage}))
        found |= {
            milestones.name_milestone("attempt_ended", {"stage": stage, "outcome": outcome}) for outcome in Outcome
        }
    assert {name for name in found if name and f"`{name}`" not in page} == {"verification_conflict"}


def test_every_outcome_is_described(page: str) -> None:
    assert {outcome for outcome in Outcome if f"`{outcome}`" not in page} == set()
