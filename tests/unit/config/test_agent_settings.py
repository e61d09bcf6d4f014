from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.agents import make_agent
from whilly.adapters.command.descriptor import AgentDescriptor
from whilly.config.layers import Sources, combine
from whilly.config.settings import AgentTable
from whilly.domain.ids import AttemptId, SessionId
from whilly.domain.session import SessionRequest

if TYPE_CHECKING:
    from pathlib import Path

PYTHON = sys.executable
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/home/ada", "EXTRA": "seen"}
REQUEST = SessionRequest(AttemptId("r/1"), "do it", "/work", "/home/attempt", SessionId("s-1"))
TOOL = f'argv = ["{PYTHON}", "<{{permission}}>"]\n'
PERMISSIONS = 'permissions = {free = "f", safe = "s"}\n'


async def observe(folder: Path, table: str) -> object:
    """Everything that an agent shows of its settings: what it says of itself, its process, its health."""
    (folder / "whilly.toml").write_text(f"[agents.tool]\n{table}", encoding="utf-8")
    settings = combine(Sources(folder, folder / "none", {})).settings
    agent = make_agent("tool", settings.agents["tool"].changes(), ENVIRONMENT)
    return agent.facts(), agent.launch(REQUEST), await agent.probe()


CHANGES = {
    "kind": (f'program = "{PYTHON}"\nkind = "claude"\n', f'program = "{PYTHON}"\n{TOOL}'),
    "program": (f'program = "/bin/sh"\n{TOOL}', TOOL),
    "argv": (f'argv = ["{PYTHON}", "-x"]\n', TOOL),
    "extra_args": (f'{TOOL}extra_args = ["-x"]\n', TOOL),
    "safe": (
        f'{TOOL}safe = true\npermissions = {{free = "f", safe = "s"}}\n',
        f'{TOOL}permissions = {{free = "f", safe = "s"}}\n',
    ),
    "permissions": (f'{TOOL}permissions = {{free = "f"}}\n', TOOL),
    "output": (f'{TOOL}output = "jsonl"\n', TOOL),
    "cost": (f'{TOOL}cost = "free"\n', TOOL),
    "native": ('argv = ["/bin/ls"]\nnative = ["cat"]\n', 'argv = ["/bin/ls"]\n'),
    "model": (f'argv = ["{PYTHON}", "<{{model}}>"]\nmodel = "m"\n', f'argv = ["{PYTHON}", "<{{model}}>"]\n'),
    "label": (f'{TOOL}label = "The tool"\n', TOOL),
    "env_pass": (f'{TOOL}env_pass = ["EXTRA"]\n', TOOL),
    "env_set": (f'{TOOL}env_set = {{A = "1"}}\n', TOOL),
    "version_args": (f'{TOOL}version_args = ["-c", "print(1.5)"]\n', TOOL),
    "login_env": (f'{TOOL}login_env = ["NO_SUCH"]\n', TOOL),
    "login_files": (f'{TOOL}login_files = ["$HOME/.no/such"]\n', TOOL),
    "hygiene": (f'argv = ["{PYTHON}", "{{hygiene}}"]\nhygiene = ["-x"]\n', f'argv = ["{PYTHON}", "{{hygiene}}"]\n'),
    "hygiene_env": (f'{TOOL}hygiene_env = {{A = "1"}}\n', TOOL),
    "trust": (f'{TOOL}hygiene_env = {{A = "1"}}\ntrust = true\n', f'{TOOL}hygiene_env = {{A = "1"}}\n'),
    "runs_plugins": (f"{TOOL}runs_plugins = true\n", TOOL),
    "bridge": (f'{TOOL}bridge = "acp"\n', TOOL),
    "own_tmp": (f"{TOOL}own_tmp = true\n", TOOL),
    "files": (f'{TOOL}files = {{"{{home}}/a.json" = ["{{id}}", ["{{resume}}"], "!"]}}\n', TOOL),
    "links": (f'{TOOL}links = {{"{{run_home}}/b" = "$HOME/b"}}\n', TOOL),
    "login_modes": (
        f'argv = ["{PYTHON}", "{{login_mode}}"]\nlogin_modes = {{HOME = "h", default = "d"}}\n',
        f'argv = ["{PYTHON}", "{{login_mode}}"]\nlogin_modes = {{NONE = "h", default = "d"}}\n',
    ),
    "install": (f'{TOOL}install = "get it"\n', TOOL),
    "login": (f'{TOOL}login = "log in"\n', TOOL),
}
FOR_ROOT = {"env_set_as_root"}
"""Covered where the agent can be told that it is run by root: test_some_variables_are_for_root_only."""
FOR_CONTAINED = {"gateway", "gateways", "gateway_args", "gateway_files"}
"""Covered where the agent is contained: tests/unit/adapters/test_contained_agent.py."""

FOR_TIERS = {"isolation"}
"""What is said about an agent's work, not to the agent: tests/unit/project/test_tiers.py."""


@pytest.mark.parametrize("key", CHANGES)
async def test_each_key_of_an_agents_table_changes_the_agent(tmp_path: Path, key: str) -> None:
    changed, unchanged = CHANGES[key]
    assert await observe(tmp_path, changed) != await observe(tmp_path, unchanged)


async def test_the_same_table_gives_the_same_agent(tmp_path: Path) -> None:
    assert await observe(tmp_path, TOOL) == await observe(tmp_path, TOOL)


def test_the_settings_and_the_descriptions_of_agents_have_the_same_keys() -> None:
    assert {*AgentTable.model_fields} - {"kind"} - FOR_TIERS == {*AgentDescriptor.model_fields} - {"name"}
    assert {*AgentTable.model_fields} == {*CHANGES} | FOR_ROOT | FOR_CONTAINED | FOR_TIERS
