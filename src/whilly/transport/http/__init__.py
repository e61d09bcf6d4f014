"""HTTP as trackers and forges need it: patient, bounded, and without secrets in what it says."""

from __future__ import annotations
