"""Jira, in the cloud and on one's own servers."""

from __future__ import annotations
