"""Which items of a plan to start next, and why the others wait."""

from __future__ import annotations

from whilly.domain.schedule.frontier import Frontier
from whilly.domain.schedule.preview import Preview, preview
from whilly.domain.schedule.reasons import Blocked, Wait, WaitsForFiles, WaitsForItem, WaitsForSlot

__all__ = ["Blocked", "Frontier", "Preview", "Wait", "WaitsForFiles", "WaitsForItem", "WaitsForSlot", "preview"]
