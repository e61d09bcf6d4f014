"""A GitLab of one's own, as far as issues and merge requests go; made from its documents, not from a recording."""

from __future__ import annotations
