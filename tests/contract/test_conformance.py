"""The conformance kit: every scenario with every real agent CLI."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.adapters.agents import make_agent
from whilly.testing.conformance.bench import Bench
from whilly.testing.conformance.kit import examine
from whilly.testing.conformance.scenarios import SCENARIOS
from whilly.testing.conformance.verdict import Mark
from whilly.testing.rigs.table import RIGS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from whilly.testing.models.scripted import ScriptedModel

CANNOT = {("codex", "never_completes")}
"""What is known to be missing, and written down in the reference of the agent."""
HEAVY = {
    "opencode": (
        *("edits_and_commits", "bad_login", "leaves_processes", "stopped", "unknown_session"),
        *("one_429", "usage_limit", "stays_after_result", "input_closed", "input_ends_late", "resumes_after_kill"),
    )
}
"""A session takes ten seconds of processor time: its plan in tests/e2e shows the rest."""
CASES = [(rig, scenario) for rig in RIGS for scenario in HEAVY.get(rig, SCENARIOS)]


@pytest.mark.parametrize(("name", "scenario"), CASES, ids=["-".join(case) for case in CASES])
async def test_a_real_cli_does_what_whilly_needs_or_says_that_it_cannot(
    name: str,
    scenario: str,
    tmp_path: Path,
    scripted_model: Callable[..., ScriptedModel],
    test_environment: Mapping[str, str],
    request: pytest.FixtureRequest,
) -> None:
    program = request.getfixturevalue(f"{name}_program")
    bench = Bench(
        RIGS[name],
        tmp_path,
        test_environment["PATH"],
        lambda environ: make_agent(name, {"program": program}, environ),
        scripted_model,
    )
    verdict = await examine(scenario, bench)
    assert verdict.mark is (Mark.CANNOT if (name, scenario) in CANNOT else Mark.HOLDS), verdict
