"""Roles in the settings that no pipeline has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.bootstrap import open_project
from whilly.testing.scratch import ScratchRepository

if TYPE_CHECKING:
    from pathlib import Path

OWN = """
name = "ours"
first = "write"
[stages.write]
role = "poet"
prompt = "execute"
next = ""
"""


def warnings(tmp_path: Path, settings: str, pipeline: str = "") -> list[str]:
    root = ScratchRepository.make(tmp_path).root
    (root / "whilly.toml").write_text(settings, encoding="utf-8")
    if pipeline:
        (root / ".whilly" / "pipelines").mkdir(parents=True)
        (root / ".whilly" / "pipelines" / "ours.toml").write_text(pipeline, encoding="utf-8")
    return [str(each) for each in open_project(root).loaded.warnings]


def test_a_role_that_no_pipeline_has_is_told_with_its_place_and_those_there_are(tmp_path: Path) -> None:
    (told,) = warnings(tmp_path, '[roles.develper]\nagent = "claude"\n[roles.developer]\nagent = "claude"\n')
    assert told == (
        "whilly.toml:2: roles.develper has no effect: no pipeline has this role"
        " → did you mean developer? the roles are analyst, author, developer, planner"
    )


def test_a_role_of_a_pipeline_of_the_repository_is_known(tmp_path: Path) -> None:
    assert warnings(tmp_path, '[roles.poet]\nagent = "claude"\n', OWN) == []


def test_a_broken_pipeline_is_not_told_here(tmp_path: Path) -> None:
    assert warnings(tmp_path, '[roles.poet]\nagent = "claude"\n', "what") == []
