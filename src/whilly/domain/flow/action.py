"""The built-in actions: those that each pipeline has, and the branches that each may lead to."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


class Branch(StrEnum):
    """What a completed action says of where it goes on."""

    OPINION = "opinion"
    """An agent is asked for its opinion."""
    WEIGH = "weigh"
    """An agent was asked for its opinion before."""
    PROPOSE = "propose"
    """An agent is asked for a plan."""
    PARTS = "parts"
    """The issue is done in parts."""
    ANEW = "anew"
    """The issue was changed since, so that there is more to do than its parts did."""


_USUAL: Final[Mapping[str, frozenset[Branch]]] = {"verify": frozenset(), "integrate": frozenset()}
_OWN: Final[Mapping[str, Mapping[str, frozenset[Branch]]]] = {
    "prd": {"check_prd": frozenset(), "deliver": frozenset()},
    "forge": {
        "intake": frozenset(),
        "normalize": frozenset(),
        "readiness": frozenset(),
        "challenge": frozenset({Branch.OPINION, Branch.WEIGH}),
        "weigh": frozenset(),
        "strategy": frozenset({Branch.PROPOSE, Branch.PARTS}),
        "plan": frozenset({Branch.PARTS}),
        "parts": frozenset(),
        "gather": frozenset({Branch.ANEW}),
        "publish": frozenset(),
        "feedback": frozenset(),
        "rebase": frozenset(),
    },
}


def list_actions(pipeline: str) -> Mapping[str, frozenset[Branch]]:
    """The actions that stages of the pipeline of this name may have, and the branches that each may lead to."""
    return MappingProxyType({**_USUAL, **_OWN.get(pipeline, {})})
