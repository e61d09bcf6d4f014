"""Checkpoint: a named moment in the life of the engine, for tests that end it there."""

from __future__ import annotations

from typing import Protocol


class Checkpoint(Protocol):
    """Called at every persisted transition and outward act, before and after; in use it does nothing."""

    def __call__(self, name: str, /) -> None:
        """The moment `name` has come."""
        ...
