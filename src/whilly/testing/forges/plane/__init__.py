"""A Plane of one's own, as far as work items go; its behaviour is that of a measured 1.3.1."""

from __future__ import annotations
