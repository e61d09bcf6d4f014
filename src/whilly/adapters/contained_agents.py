"""How an agent of any kind becomes a contained one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.adapters.bubblewrap.agent import GATEWAY, ContainedAgent
from whilly.adapters.bubblewrap.order import HOME
from whilly.adapters.command.agent import CommandAgent
from whilly.adapters.gateway.door import Doors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from whilly.adapters.gateway.door import Means
    from whilly.domain.confinement import Confinement
    from whilly.ports.agent import Agent
    from whilly.ports.sandbox import Sandbox

SAFE_VARIABLES = ("PATH", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM")
"""What a contained agent sees of the environment, besides what the settings name; `PATH` is made anew."""


def contain_agent(
    agent: Agent,
    remake: Callable[[Mapping[str, str]], Agent],
    means: Means,
    sandbox: Sandbox,
    reach: Confinement,
) -> Agent:
    """This agent in a sandbox; a person stays one.

    Args:
        agent: as it is outside.
        remake: makes it anew for inside, with some more variables.
        means: what the gateway has to reach its models with.
        sandbox: what holds it.
        reach: what every session of it may reach.
    """
    if agent.facts().is_person:
        return agent
    if not isinstance(agent, CommandAgent):
        return ContainedAgent(remake({}), agent, sandbox, reach)
    doors = Doors(agent.descriptor, means, GATEWAY, HOME)
    # It is to see that there is a key; which one, it gets to know with each attempt.
    inner = remake(dict.fromkeys(doors.key_names, "of the attempt"))
    return ContainedAgent(inner, agent, sandbox, reach, doors)
