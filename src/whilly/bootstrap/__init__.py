"""The composition root: which adapter stands for which port, and how a repository's Whilly is put together."""

from __future__ import annotations

from whilly.bootstrap.project import Project, open_project, pass_by
from whilly.bootstrap.rules import rules

__all__ = ["Project", "open_project", "pass_by", "rules"]
