"""The ports in memory: they keep the same contracts as the real adapters, for tests and for the demo."""

from __future__ import annotations
