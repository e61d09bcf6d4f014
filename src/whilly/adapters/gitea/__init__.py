"""Gitea and Forgejo."""

from __future__ import annotations
