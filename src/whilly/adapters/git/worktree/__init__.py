"""The work tree of a run: made, mended, copied into commits, merged into, and removed without losing any."""

from __future__ import annotations
