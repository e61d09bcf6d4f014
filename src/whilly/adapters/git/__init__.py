"""Git, by its command line (ADR 0006)."""

from __future__ import annotations
