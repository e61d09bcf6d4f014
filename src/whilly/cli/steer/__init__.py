"""The commands by which people say what they want of tasks and plans."""

from __future__ import annotations
