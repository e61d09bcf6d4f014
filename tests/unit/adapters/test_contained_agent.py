"""What an agent is told when it is contained, and what it is not told."""

from __future__ import annotations

import sys
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.agents import make_agent
from whilly.adapters.bubblewrap.agent import GATEWAY, ContainedAgent
from whilly.adapters.bubblewrap.order import HOME, VARIABLE, Order, parse_order
from whilly.adapters.bubblewrap.sandbox import BubblewrapSandbox
from whilly.adapters.command.agent import CommandAgent
from whilly.adapters.gateway.door import Doors, Means
from whilly.domain.confinement import Confinement
from whilly.domain.errors import ConfigError
from whilly.domain.ids import AttemptId, SessionId
from whilly.domain.price import Price
from whilly.domain.session import Launch, SessionRequest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")

REQUEST = SessionRequest(AttemptId("r/1"), "do it", "/repo/tree", "/repo/attempts/r/1", SessionId("s-1"))
TOOL: dict[str, object] = {
    "argv": ["{program}", "{home}", "{prompt_file}", ["--resume", "{resume}"]],
    "program": sys.executable,
    "env_set": {"SET": "1"},
}
HOSTS = ("example.org",)
DOOR = {"api": "anthropic", "url_env": "BASE", "key_env": "KEY", "upstream": "https://model.example"}
PRICES = {"m": Price(Decimal(1), Decimal("2.5"), Decimal("0.1"))}


@pytest.fixture
def sandbox(tmp_path: Path) -> BubblewrapSandbox:
    """One that would start a bubblewrap, which here is never started."""
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    return BubblewrapSandbox(str(tmp_path))


def make(sandbox: BubblewrapSandbox, table: dict[str, object], **environ: str) -> ContainedAgent:
    outer = make_agent("tool", table, {"PATH": "/usr/bin:/bin", **environ})
    inner = make_agent("tool", table, {"PATH": "/usr/bin:/bin"}, is_root=False)
    assert isinstance(outer, CommandAgent)
    doors = Doors(outer.descriptor, Means(environ, PRICES), GATEWAY, HOME)
    return ContainedAgent(inner, outer, sandbox, Confinement("", readable=("/repo/objects",), hosts=HOSTS), doors)


def order(launch: Launch) -> Order:
    return parse_order(launch.env[VARIABLE])


def test_it_sees_its_tree_and_the_shared_objects(sandbox: BubblewrapSandbox) -> None:
    told = order(make(sandbox, TOOL).launch(REQUEST))
    assert ("rw", "/repo/tree", "/repo/tree") in told.mounts
    assert ("ro", "/repo/objects", "/repo/objects") in told.mounts
    assert [mount for mount in told.mounts if mount[0] == "rw"] == [("rw", "/repo/tree", "/repo/tree")]
    assert (told.hosts, told.gateway, told.home) == (("example.org",), None, "/repo/attempts/r/1")
    assert (told.env["SET"], told.env["HOME"]) == ("1", HOME)


def test_its_private_directory_is_inside_and_its_prompt_comes_by_input(sandbox: BubblewrapSandbox) -> None:
    launch = make(sandbox, TOOL).launch(REQUEST)
    assert launch.argv[-2:] == (f"{HOME}/attempt", "/dev/stdin")
    assert (launch.stdin, launch.cwd) == ("do it", "/")


def test_it_goes_on_with_no_conversation(sandbox: BubblewrapSandbox) -> None:
    agent = make(sandbox, TOOL)
    assert not agent.facts().can_resume
    launch = agent.launch(REQUEST)
    assert "--resume" not in launch.argv


def test_the_gateway_has_the_key_and_the_agent_a_token(sandbox: BubblewrapSandbox) -> None:
    agent = make(sandbox, {**TOOL, "gateway": DOOR, "gateway_args": ["--at", "{gateway}/v1"]}, KEY="secret-key")
    launch = agent.launch(replace(REQUEST, max_cost_usd=Decimal("0.5")))
    told = order(launch)
    assert told.gateway is not None
    access = told.gateway.access()
    assert (access.api, access.upstream, access.key.reveal()) == ("anthropic", "https://model.example", "secret-key")
    assert (access.budget_usd, access.prices) == (Decimal("0.5"), PRICES)
    assert told.env["BASE"] == GATEWAY
    assert told.env["KEY"] == access.token.reveal()
    assert len(access.token.reveal()) == len("run-") + 64
    assert launch.argv[-2:] == ("--at", f"{GATEWAY}/v1")
    assert "secret-key" not in str(launch.argv) + str(told.env)
    assert order(agent.launch(REQUEST)).env["KEY"] != told.env["KEY"]


def test_the_service_may_be_another_one(sandbox: BubblewrapSandbox) -> None:
    agent = make(sandbox, {**TOOL, "gateway": DOOR}, KEY="k", BASE="http://127.0.0.1:5/x/v1/")
    told = order(agent.launch(REQUEST))
    assert told.gateway is not None
    assert told.gateway.upstream == "http://127.0.0.1:5/x"


MANY = {
    **TOOL,
    "model": "one/m",
    "gateways": {"one": DOOR, "two": {"api": "google", "key_env": "KEY2", "upstream": "https://two.example"}},
    "gateway_args": ["{base}", "{provider}:{model}"],
    "gateway_files": {"~/settings.json": '{"{provider}":"{model}","key":"{env:{key_env}}"}'},
}


def test_an_agent_with_many_services_is_led_to_the_one_of_its_model(sandbox: BubblewrapSandbox) -> None:
    agent = make(sandbox, MANY, KEY="first", KEY2="second")
    launch = agent.launch(replace(REQUEST, model='two/g"x'))
    told = order(launch)
    assert told.gateway is not None
    assert (told.gateway.api, told.gateway.upstream, told.gateway.key) == ("google", "https://two.example", "second")
    assert launch.argv[-2:] == (f"{GATEWAY}/v1beta", 'two:g"x')
    assert told.files == {f"{HOME}/settings.json": '{"two":"g\\"x","key":"{env:KEY2}"}'}
    assert {"first", "second"}.isdisjoint(told.env.values())
    assert "KEY" not in told.env
    usual = order(agent.launch(REQUEST)).gateway
    assert usual is not None
    assert usual.key == "first"


@pytest.mark.parametrize(
    ("model", "words"), [("three/m", "to the provider 'three'"), ("bare", "a model named provider/model")]
)
def test_a_model_of_no_known_service_is_refused(sandbox: BubblewrapSandbox, model: str, words: str) -> None:
    agent = make(sandbox, MANY, KEY="first")
    with pytest.raises(ConfigError, match=words):
        agent.launch(replace(REQUEST, model=model))


@pytest.mark.parametrize(
    ("door", "words"),
    [
        ({**DOOR, "api": "gopher"}, "no protocol that the gateway speaks"),
        ({"api": "openai", "key_env": "KEY"}, "says neither where"),
        ({"api": "openai", "upstream": "https://a.example"}, "says neither where"),
    ],
)
async def test_a_way_that_leads_nowhere_is_refused(
    sandbox: BubblewrapSandbox, door: dict[str, str], words: str
) -> None:
    agent = make(sandbox, {**TOOL, "gateway": door}, KEY="k")
    with pytest.raises(ConfigError, match=words):
        agent.launch(REQUEST)
    assert (await agent.probe()).is_logged_in is False


async def test_an_agent_without_a_way_to_its_model_is_refused(sandbox: BubblewrapSandbox) -> None:
    alone = Confinement("", readable=("/repo/objects",))
    for table, is_refused in (({"cost": "free"}, False), ({}, True)):
        made = make_agent("tool", {**TOOL, **table}, {"PATH": "/usr/bin:/bin"})
        agent = ContainedAgent(made, made, sandbox, alone)
        assert ((await agent.probe()).is_logged_in is False) is is_refused
        if is_refused:
            with pytest.raises(ConfigError, match="no way to its model"):
                agent.launch(REQUEST)
        else:
            agent.launch(REQUEST)


async def test_without_a_key_it_says_which_one_is_missing(sandbox: BubblewrapSandbox) -> None:
    agent = make(sandbox, {**TOOL, "gateway": DOOR})
    with pytest.raises(ConfigError, match="KEY is not set"):
        agent.launch(REQUEST)
    health = await agent.probe()
    assert (health.is_logged_in, health.remedy.startswith("set KEY")) == (False, True)


def test_files_of_its_own_are_in_its_home_and_logins_are_not(sandbox: BubblewrapSandbox) -> None:
    table = {
        **TOOL,
        "files": {"{run_home}/settings.json": ["text"]},
        "links": {"{run_home}/login.json": "$HOME/login.json"},
        "own_tmp": True,
    }
    launch = make(sandbox, table, HOME="/home/ada").launch(REQUEST)
    assert (launch.files, launch.links, launch.has_own_tmp) == ({}, {}, False)
    ((place, text),) = order(launch).files.items()
    assert (place.startswith(f"{HOME}/"), text) == (True, "text")
