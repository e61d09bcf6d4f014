from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("Windows locks files in another way", allow_module_level=True)

import fcntl

from whilly.cli.run_lock import LOCK_FILE, OWNER_FILE, find_owner, hold_lock
from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 5, 2, 12, tzinfo=UTC)


def test_the_holder_is_found_while_it_holds_the_lock(tmp_path: Path) -> None:
    assert find_owner(tmp_path) is None
    with hold_lock(tmp_path, ("Shop",), NOW):
        owner = find_owner(tmp_path)
        assert owner is not None
        assert owner.plans == ("Shop",)
        with pytest.raises(ConfigError, match="on Shop"), hold_lock(tmp_path, (), NOW):
            pass
    assert find_owner(tmp_path) is None


def test_those_who_only_look_do_not_take_each_other_for_the_holder(tmp_path: Path) -> None:
    with (tmp_path / LOCK_FILE).open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        assert find_owner(tmp_path) is None


def test_what_a_killed_process_left_is_not_believed(tmp_path: Path) -> None:
    (tmp_path / LOCK_FILE).touch()
    (tmp_path / OWNER_FILE).write_text('{"pid": 1, "host": "h", "started_at": "s", "plans": []}', encoding="utf-8")
    assert find_owner(tmp_path) is None


def test_a_damaged_record_still_says_that_somebody_is_there(tmp_path: Path) -> None:
    with hold_lock(tmp_path, ("Shop",), NOW):
        (tmp_path / OWNER_FILE).write_text("{", encoding="utf-8")
        owner = find_owner(tmp_path)
    assert owner is not None
    assert owner.pid == 0


def test_where_there_can_be_no_lock_nobody_holds_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert find_owner(tmp_path / "file") is None
    assert find_owner(tmp_path / "nothing") is None
