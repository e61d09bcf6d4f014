from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.testing.scratch import ScratchRepository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path) -> ScratchRepository:
    return ScratchRepository.make(tmp_path)
