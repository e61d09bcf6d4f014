"""What the core asks of the outside world: one Protocol per module."""

from __future__ import annotations
