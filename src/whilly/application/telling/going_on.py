"""Which command goes on with a plan."""

from __future__ import annotations


def is_of_issue(source: str) -> bool:
    """Whether a plan came from an issue, and not from a file: its source is an address then."""
    return "://" in source


def name_command(source: str, name: str) -> str:
    """The command that goes on with the plan of this source and name."""
    return f"whilly forge {name}" if is_of_issue(source) else f"whilly run {source}"
