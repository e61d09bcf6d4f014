"""A surprise is caught in four places: the command line's end, the end of an effect, notification, a doctor's check."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.architecture.conftest import Module

PLACES = {"cli/main.py", "engine/driving/driver.py", "application/notify.py", "cli/doctor/isolate.py"}
BROAD = {"Exception", "BaseException"}


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Whether it takes everything. One that ends by raising again lets the surprise through."""
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    takes_all = any(kind is None or (isinstance(kind, ast.Name) and kind.id in BROAD) for kind in caught)
    last = handler.body[-1]
    return takes_all and not (isinstance(last, ast.Raise) and last.exc is None)


def test_everything_is_caught_only_where_it_has_to_be(modules: list[Module]) -> None:
    faults = [
        f"{module.path}:{node.lineno}"
        for module in modules
        if module.path not in PLACES
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ExceptHandler) and is_broad(node)
    ]
    assert faults == []


def test_each_of_these_places_catches_everything_once(modules: list[Module]) -> None:
    places = [module for module in modules if module.path in PLACES]
    counts = {
        module.path: sum(isinstance(node, ast.ExceptHandler) and is_broad(node) for node in ast.walk(module.tree))
        for module in places
    }
    assert {path: count for path, count in counts.items() if count > 1} == {}
