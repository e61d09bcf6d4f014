"""A Gitea of one's own, as far as issues and pull requests go; its behaviour is that of a recorded 1.22."""

from __future__ import annotations
