"""A template that is none is told before an agent is asked anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.adapters.jinja.renderer import check_templates, make_renderer
from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

PACKAGED = ("address", "execute", "opinion", "plan", "prd", "repair", "resolve")


def test_the_packaged_ones_are_templates(tmp_path: Path) -> None:
    check_templates(tmp_path / "prompts", PACKAGED)


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("execute", b"one\n{% if %}", "execute.md.j2: line 2: Expected an expression, got 'end of statement block'"),
        ("execute", b"{{ title | nonsense }}", "execute.md.j2: line 1: No filter named 'nonsense'."),
        ("execute", b"{% include 'gone.md.j2' %}", "gone.md.j2: there is none"),
        ("execute", b"ab\xff", "execute.md.j2: it is not UTF-8 text (byte 3)"),
        # `execute` uses it.
        ("task", b"{{", "task.md.j2: line 1: unexpected 'end of template'"),
    ],
)
def test_one_that_is_none_is_named_with_its_line(tmp_path: Path, name: str, data: bytes, why: str) -> None:
    (tmp_path / f"{name}.md.j2").write_bytes(data)
    with pytest.raises(ConfigError) as caught:
        check_templates(tmp_path, PACKAGED)
    assert caught.value.message == f"prompt template {why}"
    named, _, _ = why.partition(":")
    assert caught.value.remedy == f"correct {tmp_path / named}"


def test_one_that_was_spoiled_since_is_told_as_well(tmp_path: Path) -> None:
    render = make_renderer(tmp_path)
    (tmp_path / "execute.md.j2").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="it is not UTF-8 text"):
        render("execute", {})
