"""What the README says is so."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import click
import pytest

from whilly.adapters.planfile.parse import parse
from whilly.cli.main import whilly

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def readme(root: Path) -> str:
    return (root / "README.md").read_text(encoding="utf-8")


def test_the_commands_of_the_first_screen_are_run_by_the_gate(readme: str, root: Path) -> None:
    gate = (root / ".ci" / "run").read_text(encoding="utf-8")
    block = re.search(r"## Try it.*?```sh\n(.*?)```", readme, re.DOTALL)
    assert block is not None
    commands = [line.partition("#")[0].strip() for line in block[1].splitlines()]
    assert commands == ["python3 dev.py try", "python3 dev.py test"]
    assert [command for command in commands if not re.search(rf"{re.escape(command)}$", gate, re.MULTILINE)] == []


def test_every_command_and_option_that_it_names_exists(readme: str) -> None:
    assert isinstance(whilly, click.Group)
    context = click.Context(whilly)
    uses = re.findall(r"^whilly (\w+)(.*)|`whilly (\w+)([^`]*)`", readme, re.MULTILINE)
    named = {(first or second, (rest or more).partition("#")[0]) for first, rest, second, more in uses}
    assert {"init", "run", "why"} <= {name for name, _ in named}
    unknown = []
    for name, rest in named:
        command = whilly.get_command(context, name)
        known = [name for part in command.params for name in part.opts] if command else []
        nested = command.get_command(context, rest.split()[0]) if isinstance(command, click.Group) and rest else None
        known += [name for part in nested.params for name in part.opts] if nested else []
        unknown += [f"{name} {word}" for word in re.findall(r"--[\w-]+", rest) if word not in known]
        unknown += [] if command else [name]
    assert unknown == []


def test_its_plan_is_a_valid_plan(readme: str, tmp_path: Path) -> None:
    block = re.search(r"```json\n(.*?)```", readme, re.DOTALL)
    assert block is not None
    plan = tmp_path / "tasks.json"
    plan.write_text(block[1], encoding="utf-8")
    assert len(json.loads(block[1])["tasks"]) == 2
    parsed = parse(plan.read_bytes(), plan, tmp_path)
    assert (parsed.problems, parsed.plan is not None) == ((), True)
