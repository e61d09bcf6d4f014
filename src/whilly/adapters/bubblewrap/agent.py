"""ContainedAgent: any agent CLI, held by a sandbox, its model reached through the gateway alone."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.bubblewrap.order import HOME, MODEL_PORT
from whilly.domain.confinement import Confinement, ModelAccess
from whilly.domain.errors import ConfigError
from whilly.domain.price import Price
from whilly.domain.secret import Secret
from whilly.ports.agent import NOTHING_KNOWN, Agent
from whilly.transport.process.records import STDIN_FILE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from whilly.adapters.command.agent import CommandAgent
    from whilly.domain.session import AgentFacts, AgentHealth, Launch, Prior, SessionRequest
    from whilly.ports.agent import SessionReader
    from whilly.ports.sandbox import Sandbox

PRIVATE = f"{HOME}/attempt"
"""The attempt's private directory as the agent sees it."""

GATEWAY = f"http://127.0.0.1:{MODEL_PORT}"
SAFE_VARIABLES = ("PATH", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM")
"""What a contained agent sees of the environment, besides what the settings name; `PATH` is made anew."""


@dataclass(frozen=True, slots=True)
class ModelDoor:
    """How an agent CLI is led to the gateway.

    Attributes:
        api: the protocol that it speaks.
        url_env: the variable that tells it the service's address.
        key_env: the variable that holds its key.
        upstream: the real service's address.
        key: the real key.
        args: more arguments; `{gateway}` in them is the gateway's address.
        prices: by model.
    """

    api: str
    url_env: str
    key_env: str
    upstream: str
    key: Secret
    args: tuple[str, ...] = ()
    prices: Mapping[str, Price] = field(default_factory=dict)


def find_door(agent: CommandAgent, environ: Mapping[str, str], prices: Mapping[str, Price]) -> ModelDoor | None:
    """The way of an agent to its model, as its description and the environment have it; None when it needs none."""
    about = agent.gateway
    if not about:
        return None
    url_env, key_env = about.get("url_env", ""), about.get("key_env", "")
    upstream = environ.get(url_env) or about.get("upstream", "")
    key = Secret(environ.get(key_env, ""))
    return ModelDoor(about.get("api", ""), url_env, key_env, upstream, key, agent.gateway_args, prices)


@final
class ContainedAgent(Agent):
    """An agent in a sandbox.

    Args:
        inner: the agent itself, made with an environment that holds no secret.
        outer: the same, as it is outside; asked whether it is installed and logged in.
        objects: the directory of the mirror's objects, which its checkouts borrow.
        hosts: what it may reach by the proxy.
        door: how it reaches its model; None for agents that need none.
    """

    def __init__(
        self,
        inner: Agent,
        outer: Agent,
        sandbox: Sandbox,
        objects: str,
        hosts: Sequence[str] = (),
        door: ModelDoor | None = None,
    ) -> None:
        self._inner = inner
        self._outer = outer
        self._sandbox = sandbox
        self._objects = objects
        self._hosts = tuple(hosts)
        self._door = door

    @override
    def facts(self) -> AgentFacts:
        # Its home is empty in every attempt, so there is no conversation to go on with.
        return replace(self._outer.facts(), can_resume=False)

    @override
    async def probe(self) -> AgentHealth:
        health = await self._outer.probe()
        if health.program and self._door is not None and not self._door.key.reveal():
            remedy = f"set {self._door.key_env}: a login of the CLI itself is not taken into the sandbox"
            return replace(health, is_logged_in=False, problem="no key for the gateway", remedy=remedy)
        return health

    @override
    def launch(self, request: SessionRequest) -> Launch:
        # Its private directory is one inside, and what is to be read from there comes by standard input.
        launch = self._inner.launch(replace(request, home=PRIVATE))
        prompt = str(Path(PRIVATE) / STDIN_FILE)
        launch = replace(launch, argv=tuple(word.replace(prompt, "/dev/stdin") for word in launch.argv))
        reach = Confinement(
            home=request.home, writable=(request.workspace,), readable=(self._objects,), hosts=self._hosts
        )
        if self._door is not None:
            access = _open_door(self._door, request.max_cost_usd)
            args = tuple(word.replace("{gateway}", GATEWAY) for word in self._door.args)
            launch = replace(launch, argv=(*launch.argv, *args), env={**launch.env, **_lead(self._door, access)})
            reach = replace(reach, model=access)
        return self._sandbox.contain(launch, reach)

    @override
    def reader(self, prior: Prior = NOTHING_KNOWN) -> SessionReader:
        return self._inner.reader(prior)


def _open_door(door: ModelDoor, budget: Decimal | None) -> ModelAccess:
    if not door.key.reveal():
        message = f"there is no key that the gateway could use: {door.key_env} is not set"
        raise ConfigError(message, remedy=f"set {door.key_env}, or agent.isolation = 'open'")
    token = Secret(f"run-{secrets.token_hex(32)}")
    return ModelAccess(door.api, door.upstream, door.key, token, budget, door.prices)


def _lead(door: ModelDoor, access: ModelAccess) -> dict[str, str]:
    return {
        door.url_env: GATEWAY,
        door.key_env: access.token.reveal(),
        "NO_PROXY": "127.0.0.1,localhost,::1",
        "no_proxy": "127.0.0.1,localhost,::1",
    }
