"""Agent CLIs: the one that tasks get by default, and those that the settings describe."""

from __future__ import annotations

import asyncio
import difflib
from dataclasses import replace
from typing import TYPE_CHECKING

from whilly.cli.configure.agents import AgentReport, examine_agent
from whilly.cli.doctor.catalogue import found
from whilly.cli.doctor.finding import Fact, Said, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from whilly.cli.doctor.site import Site


async def look_at_agents(site: Site) -> Iterable[Said]:
    """Whether they are installed, answer and are logged in; all at the same time."""
    project = site.project
    default = project.default_agent
    reports = await asyncio.gather(*(examine_agent(project, name) for name in project.agent_names))
    said: list[Said] = []
    if default not in project.agent_names:
        near = difflib.get_close_matches(default, project.agent_names, n=1)
        what = f"there is no agent {default!r}" + (f"; did you mean {near[0]!r}?" if near else "")
        remedy = f"whilly config set agent.name {near[0] if near else 'claude'}"
        said.append(found("agent_unknown", what, subject=default, remedy=remedy))
    others = [each.name for each in reports if each.health.program and each.facts and not each.facts.is_free]
    for report in reports:
        table = project.settings.agents.get(report.name)
        is_own = table is not None and table.driver(report.name) == "command"
        if report.is_default and not report.health.program and others and not report.fault:
            # Whoever has another one need not install anything.
            report = replace(report, remedy=f"{report.remedy}, or: whilly config set agent.name {others[0]}")  # noqa: PLW2901  (the same, with its remedy)
        said += _judge(report, is_described=table is not None, is_own=is_own)
    return said


def _judge(report: AgentReport, *, is_described: bool, is_own: bool) -> Iterator[Said]:
    yield Fact(f"agent.{report.name}", report.summary)
    severity = Severity.PROBLEM if report.is_default else Severity.NOTE
    who = f"agent {report.name}" + (" (the default)" if report.is_default else "")
    if report.fault:
        yield found("agent_misconfigured", report.fault, subject=report.name, remedy=report.remedy)
    elif not report.health.program:
        if report.is_default or is_described:
            what = f"{who}: {report.health.problem}"
            yield found("agent_missing", what, subject=report.name, remedy=report.remedy, severity=severity)
    elif report.health.is_logged_in is False:
        if report.is_default or is_described:
            what = f"{who} is not logged in"
            yield found("agent_not_logged_in", what, subject=report.name, remedy=report.remedy, severity=severity)
    elif report.health.problem:
        # A command of the user's own may do its work without knowing how to say its version.
        remedy = f"set agents.{report.name}.version_args to what it understands" if is_own else report.remedy
        severity = Severity.NOTE if is_own else severity
        what = f"{who}: {report.health.problem}"
        yield found("agent_broken", what, subject=report.name, remedy=remedy, severity=severity)
