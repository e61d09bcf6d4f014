from __future__ import annotations

import pytest

from whilly.adapters.command.template import PLACEHOLDERS, find_placeholders, render_argv
from whilly.domain.errors import ConfigError

VALUES = dict.fromkeys(PLACEHOLDERS, "") | {"prompt": "$(id) {model}", "model": "m 1"}


def test_values_are_put_in_as_they_are() -> None:
    assert render_argv(("tool", "--model={model}", "{prompt}"), VALUES) == ("tool", "--model=m 1", "$(id) {model}")


def test_a_group_stands_or_falls_with_its_placeholders() -> None:
    argv = ("tool", ("--model", "{model}"), ("--resume", "{resume}"), "{resume}")
    assert render_argv(argv, VALUES) == ("tool", "--model", "m 1", "")


def test_doubled_braces_are_braces() -> None:
    assert render_argv(('{{"a": "{model}"}}',), VALUES) == ('{"a": "m 1"}',)


def test_the_nearest_placeholder_is_named() -> None:
    with pytest.raises(ConfigError, match=r"unknown placeholder \{promt_file\}.*did you mean \{prompt_file\}"):
        find_placeholders(("tool", ("{promt_file}",)))


@pytest.mark.parametrize("text", ["{", "}", "{}", "{prompt", "{prompt!r}", "{0}", "{prompt.x}", '{"a": 1}'])
def test_anything_else_in_braces_is_an_error(text: str) -> None:
    with pytest.raises(ConfigError):
        find_placeholders((text,))
