"""Kills Whilly at every moment of its life, and looks at what the next Whilly makes of it."""

from __future__ import annotations
