"""Whole plans with real agent CLIs, a scripted model and real git."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from whilly.testing.models.canned import CannedServer
from whilly.testing.models.script import Script, say
from whilly.testing.rigs.claude import ClaudeRig
from whilly.testing.rigs.codex import CodexRig
from whilly.testing.rigs.gemini import GeminiRig
from whilly.testing.rigs.opencode import OpencodeRig

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.conftest import Command

    from whilly.testing.models.scripted import ScriptedModel
    from whilly.testing.rigs.rig import Rig
    from whilly.testing.scratch import ScratchRepository
    from whilly.testing.workshop import Workshop

DONE = say("Done.\n\n<promise>COMPLETE</promise>")
TASKS: list[dict[str, Any]] = [
    {"id": "A", "description": "Write alpha", "key_files": ["alpha.txt"]},
    {"id": "B", "description": "Write beta", "dependencies": ["A"], "test_steps": ["grep -q beta beta.txt"]},
]
TURN_USD = {"codex": 0.0065, "gemini": 0.00175, "opencode": 0.00375}
"""A thousand tokens of input and fifty of output, at the packaged list price of the rig's model."""


def script(rig: Rig) -> tuple[Script, ...]:
    return (
        # The repair goes on with the conversation of the first attempt, which holds two answers.
        Script("## A check fails", (rig.shell("echo beta > beta.txt"), DONE), start=2),
        Script("# Task A", (rig.shell("echo alpha > alpha.txt && git add -A && git commit -qm alpha"), DONE)),
        Script("# Task B", (rig.write("beta.txt", "not it\n"), DONE)),
    )


@pytest.mark.parametrize("rig", [CodexRig(), GeminiRig(), OpencodeRig()], ids=lambda rig: rig.name)
def test_a_plan_is_worked_through_and_each_turn_is_paid_for_once(
    rig: Rig,
    scratch: ScratchRepository,
    command: Command,
    scripted_model: Callable[..., ScriptedModel],
    request: pytest.FixtureRequest,
) -> None:
    program = request.getfixturevalue(f"{rig.name}_program")
    scratch.write(scratch.root, {"tasks.json": json.dumps({"project": "other agents", "tasks": TASKS})})
    settings = f'[agent]\nname = "{rig.name}"\nmodel = "{rig.model}"\n[agents.{rig.name}]\nprogram = "{program}"\n'
    scratch.write(scratch.root, {"whilly.toml": settings})
    scratch.commit("plan")
    with scripted_model(*script(rig)) as model:
        told = command("run", "tasks.json", "--headless", **rig.settle(scratch.home, model.url))
    assert told.code == 0, told.err
    report = json.loads(command("report", "--format", "json").out)
    items = {item["id"]: item for item in report["items"]}
    assert {name: item["status"] for name, item in items.items()} == {"A": "done", "B": "done"}
    assert {name: item["cost_usd"] for name, item in items.items()} == {
        "A": pytest.approx(2 * TURN_USD[rig.name]),
        "B": pytest.approx(4 * TURN_USD[rig.name]),
    }
    shown = [scratch.git("show", f"whilly/other-agents:{name}.txt") for name in ("alpha", "beta")]
    assert shown == ["alpha", "beta"]


@pytest.mark.parametrize("rig", [ClaudeRig(), CodexRig(), GeminiRig(), OpencodeRig()], ids=lambda rig: rig.name)
def test_a_usage_limit_parks_the_account_and_nothing_is_tried_meanwhile(
    rig: Rig, shop: Workshop, request: pytest.FixtureRequest
) -> None:
    program = request.getfixturevalue(f"{rig.name}_program")
    shop.settings(f'[agent]\nname = "{rig.name}"\nmodel = "{rig.model}"\n[agents.{rig.name}]\nprogram = "{program}"\n')
    shop.plan({"id": "A"}, {"id": "B"})
    shop.repository.commit("plan")
    resets_at = datetime.now(UTC) + timedelta(days=3)  # noqa: TID251  (the CLI's clock)
    with CannedServer(rig.limit_usage(resets_at)) as server:
        settled = rig.subscribe(rig.settle(shop.repository.home, server.url))
        running = replace(shop, environ={**shop.environ, **settled}).start("run", "--parallel", "1")
        shop.wait_for(lambda: '"deferred"' in running.out, 120)
        count = len(server.requests)
        why = shop.run("why", "B").out
        running.interrupt()
        ended = running.wait()
        assert len(server.requests) == count
    assert [event["account"] for event in ended.objects("account_limited")] == [rig.name]
    assert [event["outcome"] for event in ended.objects("attempt_ended")] == ["limited"]
    assert "limited" in why
    assert (ended.complete["cost_usd"], shop.processes()) == (0, [])
