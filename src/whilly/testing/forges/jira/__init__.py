"""A Jira of one's own, as far as issues go: the cloud's, or that of one's own servers."""

from __future__ import annotations
