"""In which tier a task is worked on: the strictest of what the settings, the task and its agents ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.adapters.git.contained.policy import GitPolicy
from whilly.bootstrap import Project, pass_by
from whilly.config.layers import Sources, combine
from whilly.domain.confinement import Tier
from whilly.domain.ids import ItemId
from whilly.domain.work_item import WorkItem
from whilly.testing.scratch import ScratchRepository

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

OPEN, CONTAINED = Tier.OPEN, Tier.CONTAINED
AGENTS = """
[agents.held]
argv = ["sh"]
isolation = "contained"
[agents.other]
argv = ["sh"]
isolation = "open"
"""


def project(tmp_path: Path, environ: Mapping[str, str], settings: str) -> Project:
    scratch = ScratchRepository.make(tmp_path)
    scratch.write(scratch.root, {"whilly.toml": settings + AGENTS})
    found = {"PATH": environ["PATH"], "HOME": str(scratch.home)}
    return Project(scratch.root, combine(Sources(scratch.root, scratch.home / "none", found)), pass_by)


@pytest.mark.parametrize(
    ("settings", "agent", "asked", "tier"),
    [
        ("", "", OPEN, OPEN),
        ("", "", CONTAINED, CONTAINED),
        ("", "held", OPEN, CONTAINED),
        ("", "other", OPEN, OPEN),
        ("", "other", CONTAINED, CONTAINED),
        ('[agent]\nisolation = "contained"\n', "other", OPEN, CONTAINED),
        ('[agent]\nname = "held"\n', "", OPEN, CONTAINED),
        ('[agent]\nname = "held"\n', "claude", OPEN, OPEN),
        # Whoever may take over decides as well: the same checkout is used by all of them.
        ('[agent]\nsubstitutes = ["held"]\n', "", OPEN, CONTAINED),
        ('[agent]\nsubstitutes = ["held"]\n', "claude", OPEN, OPEN),
    ],
)
def test_the_strictest_wish_counts(
    tmp_path: Path, test_environment: Mapping[str, str], settings: str, agent: str, asked: Tier, tier: Tier
) -> None:
    made = project(tmp_path, test_environment, settings)
    assert made.tier_of(WorkItem(ItemId("A"), "a", agent=agent, isolation=asked)) is tier


def test_each_tier_has_a_world_of_its_own(tmp_path: Path, test_environment: Mapping[str, str]) -> None:
    made = project(tmp_path, test_environment, "")
    loose, held = made.ports(OPEN), made.ports(CONTAINED)
    assert [type(ports.workspace).__name__ for ports in (loose, held)] == ["GitWorkspace", "ContainedWorkspace"]
    assert (loose.policy, isinstance(held.policy, GitPolicy)) == (None, True)
    agents = [type(vars(ports.agents["claude"])["_agent"]).__name__ for ports in (loose, held)]
    assert agents == ["CommandAgent", "ContainedAgent"]
    assert [ports.agents["handoff"].facts().is_person for ports in (loose, held)] == [True, True]
