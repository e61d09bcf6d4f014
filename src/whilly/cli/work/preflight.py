"""What must be true before a plan is worked on: git, the repository, the agents."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from whilly.adapters.git.inspection import detect_base, find_layout, require_git
from whilly.application.choose_target import Branches, choose_target
from whilly.domain.confinement import Tier
from whilly.domain.errors import ConfigError
from whilly.domain.flow.plan_run import SOLO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whilly.bootstrap import Project
    from whilly.domain.plan import Plan


async def require_repository(project: Project) -> str:
    """The base branch.

    Raises:
        ConfigError: git or the repository cannot be worked with.
    """
    await require_git(project.git, project.root)
    await find_layout(project.git, project.root)
    return project.settings.repository.base_branch or await detect_base(project.git, project.root)


async def require_tier(project: Project, plans: Sequence[Plan]) -> None:
    """See that agents are held as the settings and the plans say, by attacking the sandbox.

    Raises:
        ConfigError: it does not hold here.
    """
    if not any(project.tier_of(item) is Tier.CONTAINED for plan in plans for item in plan.items):
        return
    proof = await project.sandbox.prove()
    if proof.tier is Tier.CONTAINED:
        return
    why = proof.problem or f"attacks succeeded: {', '.join(proof.escapes)}"
    message = f"agents cannot be contained on this machine: {why}"
    raise ConfigError(message, remedy=proof.remedy or "set agent.isolation = 'open' for work that you trust")


async def require_agents(project: Project, plan: Plan, pipeline: str = SOLO) -> None:
    """See that every agent of the plan is known and installed, and has a way to its model if it is contained.

    Raises:
        ConfigError: one is not, with the command that mends it.
    """
    wanted = {(name, project.tier_of(each)) for each in plan.items for name in project.agents_for(each, pipeline)}
    for name, tier in sorted(wanted):
        if name not in project.agent_names:
            near = difflib.get_close_matches(name, project.agent_names, n=1)
            message = f"there is no agent {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
            known = ", ".join(project.agent_names)
            raise ConfigError(
                message, remedy=f"use one of {known}, or describe it under [agents.{name}] in whilly.toml"
            )
        health = await project.make_agent(name, tier).probe()
        if not health.program:
            message = f"agent {name}: {health.problem}"
            demo = "" if name == "demo" else "; to see Whilly at work without an agent: whilly run --agent demo"
            raise ConfigError(message, remedy=f"{health.remedy or 'install it'}{demo}")
        if tier is Tier.CONTAINED and health.is_logged_in is False:
            message = f"agent {name}: {health.problem}"
            raise ConfigError(message, remedy=health.remedy)


async def prepare_branches(project: Project, plan: Plan, base: str) -> Branches:
    """The branches that the plan's items start from and go to.

    Raises:
        ConfigError: the target cannot be used.
    """
    repository = project.settings.repository
    return await choose_target(project.repository, base, repository.target, f"{repository.branch_prefix}{plan.slug}")
