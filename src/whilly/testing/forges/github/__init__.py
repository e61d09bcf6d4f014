"""A GitHub of one's own, as far as issues and pull requests go."""

from __future__ import annotations
