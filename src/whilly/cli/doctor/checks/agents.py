"""Agent CLIs: the one that tasks get by default, and those that the settings describe."""

from __future__ import annotations

import asyncio
import difflib
from typing import TYPE_CHECKING

from whilly.cli.configure.agents import AgentReport, examine_agent
from whilly.cli.doctor.catalogue import found
from whilly.cli.doctor.finding import Fact, Said, Severity
from whilly.cli.work.preflight import default_agent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from whilly.cli.doctor.site import Site


async def look_at_agents(site: Site) -> Iterable[Said]:
    """Whether they are installed, answer and are logged in; all at the same time."""
    project = site.project
    default = default_agent(project)
    reports = await asyncio.gather(*(examine_agent(project, name) for name in project.agent_names))
    said: list[Said] = []
    if default not in project.agent_names:
        near = difflib.get_close_matches(default, project.agent_names, n=1)
        what = f"there is no agent {default!r}" + (f"; did you mean {near[0]!r}?" if near else "")
        remedy = f"whilly config set agent.name {near[0] if near else 'claude'}"
        said.append(found("agent_unknown", what, subject=default, remedy=remedy))
    for report in reports:
        said += _judge(report, is_described=report.name in project.settings.agents)
    return said


def _judge(report: AgentReport, *, is_described: bool) -> Iterator[Said]:
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
        what = f"{who}: {report.health.problem}"
        yield found("agent_broken", what, subject=report.name, remedy=report.remedy, severity=severity)
