"""`whilly import`: issues of a tracker into a plan file."""

from __future__ import annotations
