"""`whilly agents check`: the conformance kit, run against one agent CLI of this machine."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whilly.adapters.agents import make_agent
from whilly.bootstrap import Project, pass_by
from whilly.cli.configure.abilities import ABILITIES, list_abilities
from whilly.cli.context import load_here
from whilly.cli.exit_codes import ExitCode
from whilly.cli.render_error import printable
from whilly.cli.subject import json_option, print_json
from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from whilly.domain.session import AgentFacts
    from whilly.ports.agent import Agent
    from whilly.testing.conformance.verdict import Verdict

MODEL_SERVER = "@copilotkit/aimock@1.43.0"
IN_REPOSITORY = ".agents/node_modules/@copilotkit/aimock/dist/cli.js"
SIGNS = {"holds": "✓", "cannot": "·", "fails": "✗"}


@click.command()
@click.argument("name")
@click.option("--model-server", metavar="FILE", help="The scripted model server's cli.js; else `aimock` on PATH.")
@click.option("--scenario", "wanted", multiple=True, metavar="NAME", help="Only this one; may be repeated.")
@json_option
def check(name: str, model_server: str | None, wanted: tuple[str, ...], *, as_json: bool) -> int:
    """Show what an agent CLI of this machine does, well or badly, with a scripted model.

    No request leaves the machine and nothing is spent: the CLI talks to a model server that plays scripts, in a home of
    its own. That takes Node.js 20.15 or later and `npm install -g @copilotkit/aimock@1.43.0`.
    """
    root, loaded = load_here()
    project = Project(root, loaded, pass_by)
    kind = _find_kind(project, name)
    make = _maker(project, name)
    agent = make(project.loaded.environment)
    health = asyncio.run(agent.probe())
    if not health.program:
        message = f"agent {name}: {health.problem}"
        raise ConfigError(message, remedy=health.remedy or "install it")
    server = _find_server(model_server, root, project.loaded.environment)
    chosen = _choose(wanted)
    tell = _keep_quiet if as_json else _print
    tell(f"{name}: {agent.facts().label}, {health.version or 'of an unknown version'}, {health.program}")
    verdicts = []
    for scenario in chosen:
        verdicts.append(asyncio.run(_examine(kind, scenario, make, server, project.loaded.environment.get("PATH", ""))))
        tell(_render(verdicts[-1]))
    if as_json:
        print_json({"agent": name, "version": health.version or None, **_as_json(verdicts, agent.facts())})
    for line in _summarize(verdicts, agent.facts()):
        tell(line)
    return ExitCode.FAILED if any(verdict.mark == "fails" for verdict in verdicts) else ExitCode.DONE


def _find_kind(project: Project, name: str) -> str:
    from whilly.testing.rigs.table import RIGS  # noqa: PLC0415  (only this command needs the kit)

    table = project.settings.agents.get(name)
    if table is None and name not in project.agent_names:
        message = f"there is no agent {name!r}"
        raise ConfigError(message, remedy=f"use one of {', '.join(project.agent_names)}")
    kind = table.driver(name) if table else name
    if kind not in RIGS:
        message = f"agent {name} is of kind {kind}, which the kit cannot put on a scripted model"
        remedy = (
            f"it knows {', '.join(RIGS)}; test a command of your own with whilly.testing.contracts.agent.AgentContract"
        )
        raise ConfigError(message, remedy=remedy)
    return kind


def _maker(project: Project, name: str) -> Callable[[Mapping[str, str]], Agent]:
    table = project.settings.agents.get(name)
    prices = {model: price.rates() for model, price in project.settings.prices.items()}
    return lambda environ: make_agent(name, table.changes() if table else {}, environ, (), prices)


def _find_server(given: str | None, root: Path, environ: Mapping[str, str]) -> str:
    # The package's command of its own name takes other options; the program wanted lies beside it.
    on_path = shutil.which("aimock", path=environ.get("PATH", ""))
    beside = [Path(on_path).resolve().with_name("cli.js")] if on_path else []
    choices = [Path(given)] if given else [root / IN_REPOSITORY, *beside]
    found = next((str(each.resolve()) for each in choices if each.is_file()), None)
    if found is None:
        message = f"no scripted model server at {given}" if given else "no scripted model server on this machine"
        raise ConfigError(message, remedy=f"npm install -g {MODEL_SERVER}, or name its cli.js with --model-server")
    if shutil.which("node", path=environ.get("PATH", "")) is None:
        message = "the scripted model server needs Node.js, and there is no node on PATH"
        raise ConfigError(message, remedy="install Node.js 20.15 or later")
    return found


def _choose(wanted: Sequence[str]) -> list[str]:
    from whilly.testing.conformance.scenarios import SCENARIOS  # noqa: PLC0415  (as above)

    unknown = [name for name in wanted if name not in SCENARIOS]
    if unknown:
        message = f"there is no scenario {unknown[0]!r}"
        raise ConfigError(message, remedy=f"use one of {', '.join(SCENARIOS)}")
    return list(wanted or SCENARIOS)


async def _examine(
    kind: str, scenario: str, make: Callable[[Mapping[str, str]], Agent], server: str, path: str
) -> Verdict:
    from whilly.testing.conformance.bench import Bench  # noqa: PLC0415  (as above)
    from whilly.testing.conformance.kit import examine  # noqa: PLC0415  (as above)
    from whilly.testing.models.scripted import ScriptedModel  # noqa: PLC0415  (as above)
    from whilly.testing.rigs.table import RIGS  # noqa: PLC0415  (as above)

    node = shutil.which("node", path=path) or "node"
    with tempfile.TemporaryDirectory(prefix="whilly-check-", ignore_cleanup_errors=True) as folder:
        bench = Bench(RIGS[kind], Path(folder), path, make, partial(ScriptedModel, server, node=node))
        return await examine(scenario, bench)


def _render(verdict: Verdict) -> str:
    name = verdict.scenario.replace("_", " ")
    return f"{SIGNS[verdict.mark]} {name:<20} {verdict.seconds:5.1f} s  {verdict.said}"


def _summarize(verdicts: Sequence[Verdict], facts: AgentFacts) -> list[str]:
    count = {mark: sum(verdict.mark == mark for verdict in verdicts) for mark in SIGNS}
    able = [words for words, is_so in list_abilities(facts) if is_so]
    unable = [words for words, is_so in list_abilities(facts) if not is_so]
    return [
        f"{count['holds']} hold, {count['cannot']} it cannot do, {count['fails']} fail",
        f"it {', '.join(able) or 'writes plain text'}",
        *([f"not: {', '.join(unable)}"] if unable else []),
    ]


def _as_json(verdicts: Sequence[Verdict], facts: AgentFacts) -> dict[str, object]:
    return {
        "scenarios": [
            {"name": each.scenario, "mark": each.mark, "said": each.said, "seconds": round(each.seconds, 1)}
            for each in verdicts
        ],
        "abilities": {name: getattr(facts, name) for name in ABILITIES},
    }


def _print(line: str) -> None:
    click.echo(printable(line))


def _keep_quiet(_line: str) -> None:
    """For programs, one object is printed at the end."""
