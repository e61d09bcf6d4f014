"""Local servers that speak the wire formats of forges and trackers, with faults on request."""

from __future__ import annotations
