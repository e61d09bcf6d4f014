from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.adapters.memory.clock import ManualClock
from whilly.testing.git_world import GitWorld

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def world(tmp_path: Path) -> GitWorld:
    return GitWorld(tmp_path, ManualClock())
