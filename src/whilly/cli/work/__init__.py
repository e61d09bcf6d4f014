"""The commands that work through plans."""

from __future__ import annotations
