"""Where plans and tasks stand and why, as values that every view shows in its own way."""

from __future__ import annotations
