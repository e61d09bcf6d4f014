from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.adapters.bubblewrap.sandbox import BubblewrapSandbox
from whilly.adapters.memory.clock import ManualClock
from whilly.testing.contained_world import ContainedWorld

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def sandbox(bubblewrap: str) -> BubblewrapSandbox:
    return BubblewrapSandbox(bubblewrap)


@pytest.fixture
def world(tmp_path: Path, sandbox: BubblewrapSandbox) -> ContainedWorld:
    return ContainedWorld(tmp_path, ManualClock(), sandbox)
