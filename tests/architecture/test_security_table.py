"""The table of hostile input names tests that exist, and leaves nothing out."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

ITEMS = set(range(13, 41))
ROW = re.compile(r"^\| ([\d, ]+) \|(.*)\|$", re.MULTILINE)
NAME = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


@pytest.fixture(scope="module")
def table(root: Path) -> str:
    return (root / "docs" / "reference" / "security.md").read_text(encoding="utf-8")


def test_every_test_that_it_names_exists(table: str, root: Path) -> None:
    named = set(NAME.findall(table))
    assert len(named) > len(ITEMS)
    missing = [f"{file}::{test}" for file, test in sorted(named) if test not in list_tests(root / file)]
    assert missing == []


def test_every_item_is_there_with_a_test_or_with_what_it_belongs_to(table: str) -> None:
    shown, _, later = table.partition("## What is not shown yet")
    rows = ROW.findall(shown)
    assert [number for number, text in rows if not NAME.search(text)] == []
    found = {int(number) for numbers, _ in [*rows, *ROW.findall(later)] for number in numbers.split(",")}
    assert found == ITEMS


def list_tests(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8")) if file.is_file() else ast.Module([], [])
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return {node.name for node in nodes}
