"""The commands by which people take and give back work."""

from __future__ import annotations
