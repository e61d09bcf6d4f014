"""A setting that nothing shows to matter is a setting that does nothing."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from whilly.config.schema import leaves

ROOT = Path(__file__).parent.parent.parent
TABLE = Path(__file__).parent / "settings_effects.toml"
LATER = "later"
"""Accepted for what comes later, and documented so; allowed only for these tables."""
LATER_TABLES = {"github", "jira", "project_board"}
PENDING = "pending"


@pytest.fixture
def effects() -> dict[str, str]:
    return {key: str(value) for key, value in tomllib.loads(TABLE.read_text(encoding="utf-8")).items()}


def test_every_setting_has_an_entry_and_every_entry_a_setting(effects: dict[str, str]) -> None:
    assert set(effects) == {leaf.key for leaf in leaves()}


def test_every_entry_names_a_test_that_exists(effects: dict[str, str]) -> None:
    faults = []
    for key, entry in effects.items():
        if entry == PENDING or (entry == LATER and key.partition(".")[0] in LATER_TABLES):
            continue
        file, _, name = entry.partition("::")
        path = ROOT / file
        if not path.is_file() or f"def {name}(" not in path.read_text(encoding="utf-8"):
            faults.append(f"{key}: {entry}")
    assert faults == []


def test_no_entry_is_pending(effects: dict[str, str]) -> None:
    assert [key for key, entry in effects.items() if entry == PENDING] == []
