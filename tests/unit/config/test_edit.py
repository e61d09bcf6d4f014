from __future__ import annotations

import tomllib
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from whilly.config.edit import render_value, set_values, to_toml, write_atomically
from whilly.config.problems import InvalidConfiguration
from whilly.config.schema import Leaf, find, leaves
from whilly.config.settings import CommandTable
from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


def leaf(key: str) -> Leaf:
    found = find(tuple(key.split(".")))
    assert isinstance(found, Leaf)
    return found


def change(text: str, key: str, value: object) -> str:
    return set_values(text, [(leaf(key), value)])


def test_comments_order_and_layout_stay() -> None:
    before = "# mine\n[run]  # how\nparallel = 3 # three\n\n  timeout_s=5\n[agent]\nmodel = 'x'\n"
    assert change(before, "run.parallel", 7) == before.replace("= 3", "= 7")


@pytest.mark.parametrize(
    "before",
    [
        "",
        "[run]\nheadless = true\n",
        "run.headless = true\n",
        "run = {headless = true}\n",
        "[agents.mine]\nargv = ['a']\n[run]\n[agents.other]\nargv = ['b']\n",
        "[agents]\nclaude = {safe = true}\n",
        "# only a comment",
        "[run]\r\nheadless = true\r\n",
    ],
)
@pytest.mark.parametrize(("key", "value"), [("run.parallel", 7), ("agents.claude.program", "p"), ("github.token", "")])
def test_a_key_can_be_added_to_any_layout(before: str, key: str, value: object) -> None:
    after = tomllib.loads(change(before, key, value))
    for name in key.split("."):
        after = after[name]
    assert after == value
    assert set(tomllib.loads(before)) <= set(tomllib.loads(change(before, key, value)))


def test_the_predecessors_spelling_of_the_same_setting_goes() -> None:
    assert tomllib.loads(change("Max_Parallel = 2\nMODEL = 'x'\n", "run.parallel", 4)) == {
        "MODEL": "x",
        "run": {"parallel": 4},
    }


def test_a_file_that_is_no_toml_is_not_touched() -> None:
    with pytest.raises(InvalidConfiguration, match="not valid TOML"):
        change("[run\n", "run.parallel", 4)


def test_a_change_that_makes_the_file_invalid_is_refused() -> None:
    with pytest.raises(InvalidConfiguration, match="argv is missing"):
        change("", "agents.mine.safe", True)  # noqa: FBT003  (a value, not an option)


def test_a_fault_that_was_there_before_does_not_stop_a_change() -> None:
    assert "parallel = 4" in change("[run]\nparalel = 3\n", "run.parallel", 4)


def test_a_layout_that_has_no_room_for_the_key_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"run\.parallel cannot be set"):
        change("run = 3\n", "run.parallel", 4)


@pytest.mark.parametrize("each", list(leaves()), ids=lambda each: each.key)
def test_the_default_of_every_setting_survives_being_written_and_read(each: Leaf) -> None:
    default = each.default()
    if default is not None:
        assert each.validate(tomllib.loads(f"x = {render_value(default)}")["x"]) == default


def test_values_have_their_toml_form() -> None:
    assert to_toml(Decimal("2.50")) == 2.5
    assert to_toml(Decimal("3.00")) == 3
    assert to_toml((CommandTable(run="a"), CommandTable(run="b", accept=(0, 5)))) == [
        "a",
        {"run": "b", "accept": [0, 5]},
    ]
    assert render_value({"a b": ["x\n"]}) == '{"a b" = ["x\\n"]}'


def test_writing_keeps_permissions_and_links_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    real = tmp_path / "real.toml"
    real.write_text("old", encoding="utf-8")
    real.chmod(0o600)
    link = tmp_path / "link.toml"
    link.symlink_to(real)
    write_atomically(link, "nëw")
    assert (link.is_symlink(), real.read_text(encoding="utf-8"), real.stat().st_mode & 0o777) == (True, "nëw", 0o600)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.toml", "real.toml"]


def test_a_place_that_cannot_be_written_is_an_error_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "whilly.toml").mkdir()
    with pytest.raises(ConfigError, match="cannot be written"):
        write_atomically(tmp_path / "whilly.toml", "x")
    assert [path.name for path in tmp_path.iterdir()] == ["whilly.toml"]
