"""A repository that sets traps for agents: hooks, servers and helpers that would run as soon as one starts in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from whilly.adapters.agents import make_agent
from whilly.domain.attempt import Outcome
from whilly.domain.ids import AttemptId, SessionId
from whilly.domain.session import SessionRequest
from whilly.testing.models.script import Script, say
from whilly.testing.rigs.claude import ClaudeRig
from whilly.testing.rigs.codex import CodexRig
from whilly.testing.rigs.gemini import GeminiRig
from whilly.testing.rigs.opencode import OpencodeRig
from whilly.testing.sessions import play_session
from whilly.testing.traps import Traps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from whilly.ports.agent import Agent
    from whilly.testing.models.scripted import ScriptedModel
    from whilly.testing.rigs.rig import Rig

DONE = say("Done. <promise>COMPLETE</promise>")


TRUSTING: Mapping[str, Mapping[str, Any]] = {
    "claude": {"trust": True},
    "codex": {"trust": True},
    "gemini": {"env_set": {"GEMINI_CLI_HOME": "{run_home}", "GEMINI_CLI_TRUST_WORKSPACE": "true"}},
}


@pytest.fixture
def traps(tmp_path: Path) -> Traps:
    folder = tmp_path / "sprung"
    folder.mkdir()
    return Traps(folder)


async def work(agent: Agent, rig: Rig, traps: Traps, place: Path) -> Outcome:
    workspace = place / "workspace"
    workspace.mkdir()
    traps.set_for(rig.name, workspace)
    if rig.name == "codex":
        # Codex asks whether a folder is trusted; this user has said yes.
        with (place / "home" / ".codex" / "config.toml").open("a") as config:
            config.write(f'[projects."{workspace}"]\ntrust_level = "trusted"\n')
    session = SessionId("0f0e0d0c-1111-4222-8333-444455556666")
    ask = SessionRequest(AttemptId("run-1/1"), "TASK", str(workspace), str(place / "attempts" / "1"), session)
    return (await play_session(agent, agent.launch(ask))).report.outcome


@pytest.fixture
def make(tmp_path: Path, test_environment: Mapping[str, str], request: pytest.FixtureRequest) -> Callable[..., Agent]:
    """The rig's agent at a place of its own, with some settings."""

    def make_rigged(rig: Rig, url: str, place: str, **changes: Any) -> Agent:  # noqa: ANN401  (settings of all kinds)
        home = tmp_path / place / "home"
        home.mkdir(parents=True)
        program = request.getfixturevalue(f"{rig.name}_program")
        source = {"PATH": test_environment["PATH"], "HOME": str(home), **rig.settle(home, url)}
        return make_agent(rig.name, {"model": rig.model, "program": program, **changes}, source)

    return make_rigged


@pytest.mark.parametrize("rig", [ClaudeRig(), CodexRig(), GeminiRig()], ids=lambda rig: rig.name)
async def test_a_poisoned_repository_runs_nothing_unless_it_is_trusted(
    rig: Rig,
    traps: Traps,
    tmp_path: Path,
    scripted_model: Callable[..., ScriptedModel],
    make: Callable[..., Agent],
) -> None:
    script = Script("TASK", (rig.shell("true"), DONE))
    with scripted_model(script) as model:
        careful = make(rig, model.url, "careful")
        assert await work(careful, rig, traps, tmp_path / "careful") is Outcome.COMPLETED
        assert traps.sprung == set()
        trusting = make(rig, model.url, "trusting", **TRUSTING[rig.name])
        await work(trusting, rig, traps, tmp_path / "trusting")
        assert traps.sprung


async def test_opencode_starts_no_server_of_a_poisoned_repository_but_its_plugins(
    traps: Traps, tmp_path: Path, scripted_model: Callable[..., ScriptedModel], make: Callable[..., Agent]
) -> None:
    rig = OpencodeRig()
    # It loads plugins beside its work; a short session may be over before.
    wait = f"for _ in $(seq 300); do [ -e {traps.folder}/plugin ] && break; sleep 0.1; done"
    with scripted_model(Script("TASK", (rig.shell(wait), DONE))) as model:
        agent = make(rig, model.url, "careful")
        assert await work(agent, rig, traps, tmp_path / "careful") is Outcome.COMPLETED
    assert agent.facts().runs_plugins
    assert traps.sprung == {"plugin"}
