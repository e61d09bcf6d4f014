"""Names say what a thing does, not that it exists."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.architecture.conftest import Module

BANNED = {"manager", "helper", "helpers", "util", "utils", "service", "processor", "wrapper", "impl", "mixin", "common"}
BANNED |= {"misc", "v2"}
# As part of a function's or a constant's name these are ordinary words (`base_branch`, `new_id`).
BANNED_FOR_THINGS = {"base", "new"}


def split_name(name: str) -> set[str]:
    """The words of a name: `HTTPWorkItemV2` → http, work, item, v2."""
    words = re.findall(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+", name)
    return {word.lower() for word in words}


def name_things(module: Module) -> Iterator[str]:
    yield module.path.removesuffix(".py").rpartition("/")[2]
    yield from (node.name for node in module.classes())


def name_functions(module: Module) -> Iterator[str]:
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    yield from (node.name for node in ast.walk(module.tree) if isinstance(node, functions))


def test_names_are_split_into_words() -> None:
    assert split_name("HTTPWorkItemV2") == {"http", "work", "item", "v2"}
    assert split_name("parse_base_url") == {"parse", "base", "url"}


def test_no_module_class_or_function_has_a_word_without_meaning(modules: list[Module]) -> None:
    faults = [
        f"{module.path}: {name}"
        for module in modules
        for names, banned in ((name_things(module), BANNED | BANNED_FOR_THINGS), (name_functions(module), BANNED))
        for name in names
        if split_name(name) & banned
    ]
    assert faults == []
