from __future__ import annotations

import sys

import pytest

from whilly.adapters.agents import make_agent
from whilly.domain.errors import ConfigError


def test_the_demo_agent_says_so() -> None:
    assert make_agent("demo", {}, {}).facts().label == "demo agent (no model, no cost)"


async def test_its_python_can_be_chosen() -> None:
    assert (await make_agent("demo", {}, {}).probe()).program == sys.executable
    assert (await make_agent("show", {"kind": "demo", "program": "/nowhere"}, {}).probe()).program == ""


def test_a_setting_that_means_nothing_to_it_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"agents\.demo: argv, safe means nothing to the demo agent"):
        make_agent("demo", {"safe": True, "argv": ["x"]}, {})
