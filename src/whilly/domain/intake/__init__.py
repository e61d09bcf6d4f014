"""From an issue as people wrote it to what is wanted, whether that can be begun, and whether it is done already."""

from __future__ import annotations
