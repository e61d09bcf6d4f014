"""Adapters say which port they implement, and nobody inherits from them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.architecture.conftest import Module


def name_of(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def find_ports(modules: list[Module]) -> set[str]:
    """Names of all Protocols in `ports/`."""
    classes = [node for module in modules if module.path.startswith("ports/") for node in module.classes()]
    return {node.name for node in classes if "Protocol" in map(name_of, node.bases)}


def find_adapters(modules: list[Module]) -> list[tuple[str, ast.ClassDef]]:
    """Classes of the adapters that carry or inherit a port's name."""
    ports = find_ports(modules)
    return [
        (f"{module.path}: {node.name}", node)
        for module in modules
        if module.path.startswith("adapters/")
        for node in module.classes()
        if not node.name.startswith("_")
        and (any(node.name.endswith(port) for port in ports) or ports & set(map(name_of, node.bases)))
    ]


def test_there_are_ports_and_adapters_to_look_at(modules: list[Module]) -> None:
    assert "Clock" in find_ports(modules)
    assert "adapters/system/clock.py: SystemClock" in [name for name, _ in find_adapters(modules)]


def test_every_adapter_inherits_the_port_that_its_name_ends_with(modules: list[Module]) -> None:
    ports = find_ports(modules)
    faults = [name for name, node in find_adapters(modules) if not ports & set(map(name_of, node.bases))]
    assert faults == []


def test_every_adapter_is_final(modules: list[Module]) -> None:
    adapters = find_adapters(modules)
    assert [name for name, node in adapters if "final" not in map(name_of, node.decorator_list)] == []
