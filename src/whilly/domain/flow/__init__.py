"""How work moves: pipelines, runs and plans as positions, and the pure functions that move them."""

from __future__ import annotations
