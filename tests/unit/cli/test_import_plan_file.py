"""A plan file that people work on while an import reads issues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.cli.intake.plan_file import PlanFile, require_same
from whilly.domain.errors import RuleViolation

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_that_is_as_it_was_may_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    require_same(PlanFile(path, None, None))
    path.write_bytes(b"{}")
    require_same(PlanFile(path, b"{}", None))


@pytest.mark.parametrize("before", [None, b"[]"])
def test_a_file_that_somebody_wrote_meanwhile_may_not(tmp_path: Path, before: bytes | None) -> None:
    path = tmp_path / "tasks.json"
    path.write_bytes(b"{}")
    with pytest.raises(RuleViolation, match="while the issues were read"):
        require_same(PlanFile(path, before, None))
