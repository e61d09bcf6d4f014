"""A small plan to try things out with."""

from __future__ import annotations

from importlib.resources import files


def sample_plan() -> bytes:
    """A plan file of five small tasks, whose checks need a POSIX shell, grep and git only."""
    return files("whilly.adapters.planfile").joinpath("sample.json").read_bytes()
