"""Sessions as processes on this machine, without isolation beyond the user's own rights (the open tier)."""

from __future__ import annotations
