"""What a scenario showed of an agent CLI."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Mark(StrEnum):
    """How it went."""

    HOLDS = "holds"
    """As Whilly needs it."""
    CANNOT = "cannot"
    """The CLI cannot do that; Whilly knows, and does without."""
    FAILS = "fails"
    """Whilly and this CLI do not fit together here."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One scenario's outcome.

    Attributes:
        said: what was seen, in a few words.
    """

    scenario: str
    mark: Mark
    said: str
    seconds: float


class Cannot(Exception):
    """The CLI cannot do what the scenario is about."""


class Misfit(Exception):
    """The CLI did something that Whilly did not take for what it was."""


def require(*, that: bool, otherwise: str) -> None:
    """Raise `Misfit` unless this holds."""
    if not that:
        raise Misfit(otherwise)
