"""`whilly agents check` and `list`, with a real CLI and without any."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from whilly.testing.conformance.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.conftest import Command

    from whilly.testing.models.scripted import ScriptedModel
    from whilly.testing.scratch import ScratchRepository

BARE = "/usr/bin:/bin"


@pytest.fixture
def server(scripted_model: Callable[..., ScriptedModel]) -> str:
    """Path of the scripted model server."""
    return str(scripted_model.args[0])  # type: ignore[attr-defined]  # a functools.partial


def test_a_real_cli_is_checked_and_the_table_says_what_it_can(
    command: Command, scratch: ScratchRepository, codex_program: str, server: str
) -> None:
    scratch.write(scratch.root, {"whilly.toml": f'[agents.mine]\nkind = "codex"\nprogram = "{codex_program}"\n'})
    words = (
        "agents",
        "check",
        "mine",
        "--model-server",
        server,
        "--scenario",
        "completes",
        "--scenario",
        "never_completes",
    )
    told = command(*words)
    assert told.code == 0, told.out + told.err
    assert "✓ completes" in told.out
    assert "1050 tokens, $0.0065" in told.out
    assert "· never completes" in told.out
    assert "1 hold, 1 it cannot do, 0 fail" in told.out
    assert "is priced by its tokens" in told.out


def test_what_does_not_fit_fails_and_says_what_was_seen(
    command: Command, scratch: ScratchRepository, server: str
) -> None:
    scratch.write(scratch.root, {"whilly.toml": '[agents.odd]\nkind = "codex"\nprogram = "/bin/true"\n'})
    told = command("agents", "check", "odd", "--model-server", server, "--scenario", "completes", "--json")
    assert told.code == 1
    (found,) = json.loads(told.out)["scenarios"]
    assert (found["name"], found["mark"]) == ("completes", "fails")
    assert "it ended without a result" in found["said"]


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("codex",), "npm install -g @openai/codex"),
        (("demo",), "claude, codex, gemini, opencode"),
        (("nobody",), "use one of claude"),
        (("odd",), "npm install -g @copilotkit/aimock"),
        (("odd", "--model-server", "/nowhere"), "--model-server"),
    ],
)
def test_what_is_missing_is_told_with_its_remedy(
    command: Command, scratch: ScratchRepository, words: tuple[str, ...], remedy: str
) -> None:
    scratch.write(scratch.root, {"whilly.toml": '[agents.odd]\nkind = "codex"\nprogram = "/bin/true"\n'})
    told = command("agents", "check", *words, PATH=BARE)
    assert told.code == 4
    assert remedy in told.err


def test_an_unknown_scenario_names_those_that_there_are(
    command: Command, scratch: ScratchRepository, server: str
) -> None:
    scratch.write(scratch.root, {"whilly.toml": '[agents.odd]\nkind = "codex"\nprogram = "/bin/true"\n'})
    told = command("agents", "check", "odd", "--model-server", server, "--scenario", "flies")
    assert told.code == 4
    assert all(name in told.err for name in SCENARIOS)


def test_a_machine_without_any_agent_says_what_to_install_and_everything_else_works(command: Command) -> None:
    listed = json.loads(command("agents", "list", "--json", PATH=BARE).out)["agents"]
    missing = {agent["name"]: agent["remedy"] for agent in listed if not agent["is_installed"]}
    assert missing == {
        "claude": "npm install -g @anthropic-ai/claude-code",
        "codex": "npm install -g @openai/codex",
        "gemini": "npm install -g @google/gemini-cli",
        "opencode": "npm install -g opencode-ai",
    }
    doctor = json.loads(command("doctor", "--json", PATH=BARE).out)
    said = [finding["remedy"] for finding in doctor["findings"] if finding["code"] == "agent_missing"]
    assert said == ["npm install -g @anthropic-ai/claude-code"]
    assert command("init", "--sample", PATH=BARE).code == 0
    told = command("run", "tasks.json", "--agent", "demo", "--headless", PATH=BARE)
    assert told.code == 0, told.err
