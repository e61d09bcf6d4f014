from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.testing.forges.hub import Hub

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def hub(tmp_path: Path) -> Hub:
    return Hub(tmp_path / "hub")
