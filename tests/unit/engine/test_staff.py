from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from whilly.engine.driving.driver import Staff

STAFF = Staff(
    handlers={},
    default_agent="claude",
    default_model="sonnet",
    reservation=Decimal(1),
    branch_prefix="whilly/",
    render=lambda name, values: f"{name}{values}",
    attempts_root=Path("/nowhere"),
)


@pytest.mark.parametrize(
    ("wanted", "agent", "model"),
    [("opus", "claude", "opus"), ("", "claude", "sonnet"), ("", "codex", ""), ("gpt-5.5", "codex", "gpt-5.5")],
)
def test_the_default_model_is_the_default_agents(wanted: str, agent: str, model: str) -> None:
    assert STAFF.model_of(wanted, agent) == model
