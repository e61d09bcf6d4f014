"""Checkouts of agents that are not trusted: host git never opens a repository that an agent could write."""

from __future__ import annotations
