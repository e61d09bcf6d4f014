"""Nothing grows past what can be seen whole. There is no allow-list: a wrong limit is changed, with an ADR."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.architecture.conftest import Module

MODULE_LINES = 400
PACKAGE_MODULES = 15
CLASS_METHODS = 12
PORT_METHODS = 8


def count_methods(node: ast.ClassDef) -> int:
    """Public methods, properties left out: they are data."""
    functions = [item for item in node.body if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]
    return sum(not item.name.startswith("_") and not is_property(item) for item in functions)


def is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(
        isinstance(mark, ast.Name) and mark.id in {"property", "cached_property"} for mark in node.decorator_list
    )


def test_no_module_is_too_long(modules: list[Module]) -> None:
    lengths = {module.path: module.text.count("\n") for module in modules}
    assert {path: length for path, length in lengths.items() if length > MODULE_LINES} == {}


def test_no_package_has_too_many_modules(modules: list[Module]) -> None:
    names = [module.path for module in modules if not module.path.endswith("__init__.py")]
    sizes = Counter(path.rpartition("/")[0] for path in names)
    assert {package: size for package, size in sizes.items() if size > PACKAGE_MODULES} == {}


def test_no_class_has_too_many_public_methods(modules: list[Module]) -> None:
    # A contract suite is a list of cases, not an object that somebody calls.
    found = {
        f"{module.path}: {node.name}": count_methods(node)
        for module in modules
        if not module.path.startswith("testing/contracts/")
        for node in module.classes()
    }
    assert {name: count for name, count in found.items() if count > CLASS_METHODS} == {}


def test_no_port_has_too_many_methods(modules: list[Module]) -> None:
    ports = [(module, node) for module in modules if module.path.startswith("ports/") for node in module.classes()]
    found = {f"{module.path}: {node.name}": count_methods(node) for module, node in ports}
    assert found
    assert {name: count for name, count in found.items() if count > PORT_METHODS} == {}
