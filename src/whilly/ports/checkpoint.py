"""Checkpoint: a named moment in the life of the engine, for tests that end it there."""

from __future__ import annotations

from typing import Final, Protocol

UNITS: Final = (
    "import",
    "begin",
    "rest",
    "claim",
    "hand_over",
    "keep_candidate",
    "end_attempt",
    "close_run",
    "refresh",
    "stop",
    "cancel",
    "stop_attempt",
    "tell",
    "accept",
    "retry",
    "reset",
)
"""Changes of the ledger: each passes `<name>:before`, `<name>:inside` (before it is committed) and `<name>:after`."""

FORGE_UNITS: Final = ("add_parts",)
"""The same, on the way from an issue to a pull request only."""

ACTS: Final = ("open", "start", "save", "check", "advance", "close", "git")
"""Acts on the world outside: each passes `<name>:before` and `<name>:after`."""

FORGE_ACTS: Final = ("ask", "judge", "push", "publish", "answer", "rebase")
"""Acts on the way from an issue to a pull request: the same."""

DOCUMENT_ACTS: Final = ("put",)
"""Acts on the way from an idea to a document: the same."""

POINTS: Final = tuple(
    [f"{name}:{moment}" for name in UNITS for moment in ("before", "inside", "after")]
    + [f"{name}:{moment}" for name in ACTS for moment in ("before", "after")]
)
"""Every name that a checkpoint is called with while a plan is worked on; a test holds it complete."""


class Checkpoint(Protocol):
    """Called at every persisted transition and outward act, before and after; in use it does nothing."""

    def __call__(self, name: str, /) -> None:
        """The moment `name` has come."""
        ...
