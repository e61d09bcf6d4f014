"""ContainedAgent: any agent CLI, held by a sandbox, its model reached through the gateway alone."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.bubblewrap.order import HOME, MODEL_PORT
from whilly.domain.confinement import ModelAccess
from whilly.domain.errors import ConfigError
from whilly.domain.secret import Secret
from whilly.ports.agent import NOTHING_KNOWN, Agent
from whilly.transport.process.records import STDIN_FILE

if TYPE_CHECKING:
    from whilly.adapters.gateway.door import Door, Doors
    from whilly.domain.confinement import Confinement
    from whilly.domain.session import AgentFacts, AgentHealth, Launch, Prior, SessionRequest
    from whilly.ports.agent import SessionReader
    from whilly.ports.sandbox import Sandbox

PRIVATE = f"{HOME}/attempt"
"""The attempt's private directory as the agent sees it."""

GATEWAY = f"http://127.0.0.1:{MODEL_PORT}"


@final
class ContainedAgent(Agent):
    """An agent in a sandbox.

    Args:
        inner: the agent itself, made with an environment that holds no secret.
        outer: the same, as it is outside; asked whether it is installed.
        reach: what every session of it may reach.
        doors: how it reaches its models; None for agents that are no command lines.
    """

    def __init__(
        self,
        inner: Agent,
        outer: Agent,
        sandbox: Sandbox,
        reach: Confinement,
        doors: Doors | None = None,
    ) -> None:
        self._inner = inner
        self._outer = outer
        self._sandbox = sandbox
        self._reach = reach
        self._doors = doors

    @override
    def facts(self) -> AgentFacts:
        # Its home is empty in every attempt, so there is no conversation to go on with.
        return replace(self._outer.facts(), can_resume=False)

    @override
    async def probe(self) -> AgentHealth:
        health = await self._outer.probe()
        if not health.program:
            return health
        try:
            door = self._find_door("")
            if door is not None:
                door.require_key()
        except ConfigError as error:
            return replace(health, is_logged_in=False, problem=error.message, remedy=error.remedy)
        # What is said of a login outside means nothing to a gateway that has a key.
        return health if door is None else replace(health, is_logged_in=True, problem="", remedy="")

    @override
    def launch(self, request: SessionRequest) -> Launch:
        # Its private directory is one inside, and what is to be read from there comes by standard input.
        launch = self._inner.launch(replace(request, home=PRIVATE))
        prompt = str(Path(PRIVATE) / STDIN_FILE)
        launch = replace(launch, argv=tuple(word.replace(prompt, "/dev/stdin") for word in launch.argv))
        reach = replace(self._reach, home=request.home, writable=(request.workspace,))
        door = self._find_door(request.model)
        if door is not None:
            door.require_key()
            token = Secret(f"run-{secrets.token_hex(32)}")
            access = ModelAccess(door.api, door.upstream, door.key, token, request.max_cost_usd, door.prices)
            launch = replace(
                launch,
                argv=(*launch.argv, *door.args),
                env={**launch.env, **_lead(door, token)},
                files={**launch.files, **door.files},
            )
            reach = replace(reach, model=access)
        return self._sandbox.contain(launch, reach)

    @override
    def reader(self, prior: Prior = NOTHING_KNOWN) -> SessionReader:
        return self._inner.reader(prior)

    def _find_door(self, model: str) -> Door | None:
        door = self._doors.find(model) if self._doors else None
        facts = self._outer.facts()
        if door is None and not self._reach.hosts and not facts.is_free:
            message = f"agent {facts.name} has no way to its model when it is contained"
            gateway = f"set agents.{facts.name}.gateway (or contained.hosts, and pass its key on)"
            remedy = f"{gateway}; cost = 'free' if it needs no model; or agent.isolation = 'open'"
            raise ConfigError(message, remedy=remedy)
        return door


def _lead(door: Door, token: Secret) -> dict[str, str]:
    address = {door.url_env: GATEWAY} if door.url_env else {}
    return {
        **address,
        door.key_env: token.reveal(),
        "NO_PROXY": "127.0.0.1,localhost,::1",
        "no_proxy": "127.0.0.1,localhost,::1",
    }
