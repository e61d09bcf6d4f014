"""The real agent CLIs in the contained tier: each reaches its model through the gateway alone."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from whilly.testing.models.script import Script, say
from whilly.testing.rigs.opencode import GATEWAYS
from whilly.testing.rigs.table import RIGS
from whilly.testing.traps import Traps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.e2e.conftest import Command, Told

    from whilly.testing.models.script import Turn
    from whilly.testing.models.scripted import ScriptedModel
    from whilly.testing.rigs.rig import Rig
    from whilly.testing.scratch import ScratchRepository

KEY = "sk-real-key-of-the-host"
DONE = say("Done.\n\n<promise>COMPLETE</promise>")
TURN_USD = {"claude": 0.00375, "codex": 0.0065, "gemini": 0.00175, "opencode": 0.00375}
"""A thousand tokens of input and fifty of output, at the price of the rig's model."""
BUDGET_USD = {"claude": 0.3, "codex": 0.3, "gemini": 0.1, "opencode": 0.1}
"""Enough for the worst case of a first request, as long as each of them makes it."""
SETTINGS = """
[agent]
isolation = "contained"
name = "{rig.name}"
model = "{rig.model}"
[prices.scripted]
input = 3
output = 15
[agents.{rig.name}]
program = "{program}"
"""
SPY = "(env; cat /proc/[0-9]*/environ) > /tmp/seen 2>/dev/null; grep -ac 'real-[k]ey' /tmp/seen > seen.txt; true"
"""Counts what of the real key an agent can see, and does not find itself."""


class Office:
    """A repository in which the installed `whilly` works with one contained agent CLI."""

    def __init__(self, scratch: ScratchRepository, command: Command, rig: Rig) -> None:
        self.scratch = scratch
        self.rig = rig
        self._command = command

    def run(self, model: ScriptedModel, *words: str) -> Told:
        return self._command(*words, **self.rig.confine(model.url, KEY))

    def items(self, model: ScriptedModel) -> dict[str, Any]:
        report = json.loads(self.run(model, "report", "--format", "json").out)
        return {item["id"]: item for item in report["items"]}

    def configure(self, text: str) -> None:
        settings = self.scratch.root / "whilly.toml"
        settings.write_text(settings.read_text(encoding="utf-8") + text, encoding="utf-8")

    def plan(self, *tasks: Mapping[str, object]) -> None:
        text = json.dumps({"project": "held", "tasks": list(tasks)})
        self.scratch.write(self.scratch.root, {"tasks.json": text})

    def leaks(self) -> list[str]:
        """Files of the repository and of Whilly that hold the real key."""
        files = [path for path in self.scratch.root.rglob("*") if path.is_file() and not path.is_symlink()]
        return [str(path) for path in files if KEY.encode() in path.read_bytes()]


@pytest.fixture(params=list(RIGS.values()), ids=list(RIGS))
def office(request: pytest.FixtureRequest, scratch: ScratchRepository, command: Command, bubblewrap: str) -> Office:
    assert bubblewrap
    rig = request.param
    program = request.getfixturevalue(f"{rig.name}_program")
    extra = GATEWAYS if rig.name == "opencode" else ""
    scratch.write(scratch.root, {"whilly.toml": SETTINGS.format(rig=rig, program=program) + extra})
    return Office(scratch, command, rig)


def test_a_plan_is_worked_on_repaired_and_integrated_through_the_gateway(
    office: Office, tmp_path: Path, scripted_model: Callable[..., ScriptedModel]
) -> None:
    rig = office.rig
    # A place that also exists inside, where nothing of the host's is seen.
    traps = Traps(Path(tempfile.gettempdir(), f"sprung-{tmp_path.parent.name}-{tmp_path.name}"))
    traps.set_for(rig.name, office.scratch.root)
    office.scratch.commit("poison")
    office.plan(
        {"id": "A", "description": "Write alpha", "test_steps": ["grep -q alpha alpha.txt"]},
        {"id": "B", "description": "Write beta", "dependencies": ["A"], "test_steps": ["grep -q beta beta.txt"]},
    )
    scripts = (
        Script("## A check fails", (rig.shell(f"echo beta > beta.txt; ls {traps.folder} > sprung.txt; true"), DONE)),
        Script("# Task A", (rig.shell(f"echo alpha > alpha.txt; {SPY}"), DONE)),
        Script("# Task B", (rig.shell("echo not it > beta.txt"), DONE)),
    )
    with scripted_model(*scripts) as model:
        ended = office.run(model, "run", "--headless")
        requests = model.requests()
        items = office.items(model)
    assert ended.code == 0, ended.out + ended.err
    assert {name: item["status"] for name, item in items.items()} == {"A": "done", "B": "done"}
    shown = {name: office.scratch.git("show", f"whilly/held:{name}.txt") for name in ("alpha", "beta", "seen")}
    assert shown == {"alpha": "alpha", "beta": "beta", "seen": "0"}
    # Nothing of the CLI's own conversation is left for the next attempt, so each is paid for from its beginning.
    turn = TURN_USD[rig.name]
    assert [item["cost_usd"] for item in items.values()] == [pytest.approx(2 * turn), pytest.approx(4 * turn)]
    assert len([request for request in requests if request["method"] == "POST"]) == 6
    # OpenCode runs plugins whatever it is told; they are as contained as it is.
    sprung = set(office.scratch.git("show", "whilly/held:sprung.txt").split())
    assert sprung <= ({"plugin"} if rig.name == "opencode" else set())
    assert traps.sprung == set()
    assert office.leaks() == []


def spend(turn: Turn) -> Turn:
    """The same for more money."""
    return replace(turn, response={**turn.response, "usage": say("", input_tokens=5000).response["usage"]})


def test_the_gateway_ends_what_has_used_up_its_money(
    office: Office, scripted_model: Callable[..., ScriptedModel]
) -> None:
    rig = office.rig
    office.plan({"id": "A", "description": "Write alpha"})
    office.configure(f"[run]\nbudget_usd = {BUDGET_USD[rig.name]}\nmax_attempts = 1\n")
    with scripted_model(Script("# Task A", tuple(spend(rig.shell(f"echo {n}")) for n in range(40)))) as model:
        ended = office.run(model, "run", "--headless")
        requests = model.requests()
        items = office.items(model)
    assert ended.code != 0, ended.out
    assert 0 < items["A"]["cost_usd"] <= BUDGET_USD[rig.name]
    assert "spend no more" in json.dumps(items) + ended.out
    assert 1 < len(requests) < 40
    assert office.leaks() == []


ANY = """
import json, os, urllib.request
asked = {"model": "scripted", "messages": [{"role": "user", "content": open("/dev/stdin").read()}]}
request = urllib.request.Request(os.environ["SERVICE"] + "/v1/chat/completions", json.dumps(asked).encode())
request.add_header("authorization", "Bearer " + os.environ["SERVICE_KEY"])
request.add_header("content-type", "application/json")
with urllib.request.urlopen(request) as answer:
    text = json.load(answer)["choices"][0]["message"]["content"]
open("alpha.txt", "w").write(text)
print("<promise>COMPLETE</promise>")
"""
COMMAND = """
[agent]
isolation = "contained"
name = "mine"
[prices.scripted]
input = 3
output = 15
[agents.mine]
argv = ["python3", "{program}", "{{prompt_file}}"]
"""
GATEWAY = 'gateway = { api = "openai", url_env = "SERVICE", key_env = "SERVICE_KEY" }\n'


def test_a_command_of_the_users_own_reaches_its_model_through_the_gateway_or_is_refused(
    scratch: ScratchRepository,
    command: Command,
    bubblewrap: str,
    tmp_path: Path,
    scripted_model: Callable[..., ScriptedModel],
) -> None:
    assert bubblewrap
    program = tmp_path / "mine.py"
    program.write_text(ANY, encoding="utf-8")
    tasks = [{"id": "A", "description": "Write alpha", "test_steps": ["grep -q alpha alpha.txt"]}]
    settings = COMMAND.format(program=program)
    scratch.write(scratch.root, {"whilly.toml": settings, "tasks.json": json.dumps({"tasks": tasks})})
    refused = command("run", "--headless")
    assert (refused.code, refused.out) == (4, "")
    assert "agent mine has no way to its model when it is contained" in refused.err
    assert "agents.mine.gateway" in refused.err
    scratch.write(scratch.root, {"whilly.toml": settings + GATEWAY})
    with scripted_model(Script("# Task A", (say("alpha"),))) as model:
        keyless = command("run", "--headless", SERVICE=model.url)
        ended = command("run", "--headless", SERVICE=model.url, SERVICE_KEY=KEY)
    assert (keyless.code, "SERVICE_KEY is not set" in keyless.err) == (4, True)
    assert ended.code == 0, ended.out + ended.err
    (item,) = json.loads(command("report", "--format", "json").out)["items"]
    assert (item["status"], item["cost_usd"]) == ("done", pytest.approx(0.00375))


ACP = """
[agent]
isolation = "contained"
name = "gem"
[agents.gem]
kind = "acp"
argv = ["{program}", "--acp", "--model", "gemini-2.5-pro"]
gateway = {{ api = "google", url_env = "GOOGLE_GEMINI_BASE_URL", key_env = "GEMINI_API_KEY" }}
[agents.gem.env_set]
GEMINI_CLI_HOME = "{{run_home}}"
[agents.gem.files]
"{{run_home}}/.gemini/settings.json" = ['{{{{"security":{{{{"auth":{{{{"selectedType":"gemini-api-key"}}}}}}}}}}}}']
"""


def test_an_agent_behind_the_agent_client_protocol_works_contained(
    scratch: ScratchRepository,
    command: Command,
    bubblewrap: str,
    gemini_program: str,
    scripted_model: Callable[..., ScriptedModel],
) -> None:
    assert bubblewrap
    rig = RIGS["gemini"]
    scratch.write(scratch.root, {"whilly.toml": ACP.format(program=gemini_program)})
    tasks = [{"id": "A", "description": "Write alpha", "test_steps": ["grep -q 0 seen.txt"]}]
    scratch.write(scratch.root, {"tasks.json": json.dumps({"project": "held", "tasks": tasks})})
    with scripted_model(Script("# Task A", (rig.shell(SPY), DONE))) as model:
        ended = command("run", "--headless", **rig.confine(model.url, KEY))
    assert ended.code == 0, ended.out + ended.err
    assert scratch.git("show", "whilly/held:seen.txt") == "0"
    (item,) = json.loads(command("report", "--format", "json").out)["items"]
    assert item["cost_usd"] == pytest.approx(2 * TURN_USD["gemini"])
