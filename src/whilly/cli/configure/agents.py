"""`whilly agents`: which agent CLIs there are, and whether they can be used."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from whilly.bootstrap import Project, pass_by
from whilly.cli.configure.abilities import ABILITIES, list_abilities
from whilly.cli.configure.check_agent import check
from whilly.cli.context import load_here
from whilly.cli.exit_codes import ExitCode
from whilly.cli.render_error import printable
from whilly.cli.subject import json_option, print_json
from whilly.domain.errors import ConfigError
from whilly.domain.session import AgentFacts, AgentHealth

if TYPE_CHECKING:
    from collections.abc import Iterator

PROBE_S = 10.0
"""Seconds that an agent has to say its version."""


@dataclass(frozen=True, slots=True)
class AgentReport:
    """One agent, as it was found.

    Attributes:
        facts: what it can do; None when its settings do not describe an agent.
        fault: what is wrong with its settings.
        remedy: the command that mends what is wrong, if anything is.
    """

    name: str
    is_default: bool
    facts: AgentFacts | None
    health: AgentHealth
    fault: str = ""
    remedy: str = ""

    @property
    def summary(self) -> str:
        """In a few words."""
        health = self.health
        if self.fault or not health.program:
            return "misconfigured" if self.fault else "not installed"
        login = {True: "logged in", False: "not logged in", None: "login unknown"}[health.is_logged_in]
        default = ", the default" if self.is_default else ""
        if self.facts is not None and self.facts.is_person:
            return f"{health.version}{default}"
        return f"{health.version or 'does not answer'}, {login}{default}"


async def examine_agent(project: Project, name: str, *, limit: float = PROBE_S) -> AgentReport:
    """Look for one agent; never fails for what is wrong with it."""
    is_default = name == project.default_agent
    try:
        agent = project.make_agent(name)
    except ConfigError as error:
        remedy = error.remedy or f"correct [agents.{name}] in whilly.toml"
        return AgentReport(name, is_default, None, AgentHealth(""), fault=error.message, remedy=remedy)
    facts = agent.facts()
    try:
        async with asyncio.timeout(limit):
            health = await agent.probe()
    except TimeoutError:
        health = AgentHealth(name, problem=f"it did not say its version within {limit:g} s")
    remedy = health.remedy or (facts.remedy if health.problem else "")
    return AgentReport(name, is_default, facts, health, remedy=remedy or ("install it" if health.problem else ""))


@click.group(invoke_without_command=True)
@click.pass_context
def agents(ctx: click.Context) -> int:
    """Show which agent CLIs there are; without a command, list them."""
    return _print(as_json=False) if ctx.invoked_subcommand is None else ExitCode.DONE


agents.add_command(check)


@agents.command("list")
@json_option
def list_(*, as_json: bool) -> int:
    """List them: installed or not, version, login, what they can do."""
    return _print(as_json=as_json)


def _print(*, as_json: bool) -> int:
    root, loaded = load_here()
    project = Project(root, loaded, pass_by)
    reports = asyncio.run(_examine_all(project))
    if as_json:
        print_json({"default": project.default_agent, "agents": [_as_json(report) for report in reports]})
    else:
        for line in (line for report in reports for line in _render(report)):
            click.echo(printable(line))
    return ExitCode.DONE


async def _examine_all(project: Project) -> list[AgentReport]:
    return await asyncio.gather(*(examine_agent(project, name) for name in project.agent_names))


def _render(report: AgentReport) -> Iterator[str]:
    yield f"{report.name}: {report.summary}"
    if report.facts is not None:
        can = [words for words, is_so in list_abilities(report.facts) if is_so]
        yield f"  {report.facts.label}; {', '.join(can) or 'plain text only'}"
    if report.health.program:
        yield f"  {report.health.program}"
    problem = report.fault or report.health.problem
    if problem:
        yield f"  {problem}"
        yield f"  → {report.remedy}"


def _as_json(report: AgentReport) -> dict[str, object]:
    facts, health = report.facts, report.health
    return {
        "name": report.name,
        "label": facts.label if facts else report.name,
        "is_default": report.is_default,
        "is_installed": bool(health.program),
        "program": health.program or None,
        "version": health.version or None,
        "is_logged_in": health.is_logged_in,
        **{name: getattr(facts, name, None) for name in ABILITIES},
        "problem": report.fault or health.problem or None,
        "remedy": report.remedy or None,
    }
