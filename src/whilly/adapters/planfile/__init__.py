"""Plan files (`tasks.json`): found, read, checked, and written back with statuses."""

from __future__ import annotations

from whilly.adapters.planfile.discover import discover
from whilly.adapters.planfile.export import export
from whilly.adapters.planfile.identity import plan_id, slug
from whilly.adapters.planfile.parse import Parsed, load, parse
from whilly.adapters.planfile.problem import Problem, Severity
from whilly.adapters.planfile.sample import sample_plan
from whilly.adapters.planfile.write import write_atomically

__all__ = [
    "Parsed",
    "Problem",
    "Severity",
    "discover",
    "export",
    "load",
    "parse",
    "plan_id",
    "sample_plan",
    "slug",
    "write_atomically",
]
