"""HandoffAgent: a person who does what agents do elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.command.descriptor import AgentDescriptor
from whilly.adapters.command.jsonl import JsonlSessionReader
from whilly.domain.errors import ConfigError
from whilly.domain.session import AgentFacts, AgentHealth
from whilly.ports.agent import NOTHING_KNOWN, Agent

if TYPE_CHECKING:
    from whilly.domain.session import Launch, Prior, SessionRequest
    from whilly.ports.agent import SessionReader

LABEL = "a person (whilly handoff)"


@final
class HandoffAgent(Agent):
    """A person: there is nothing to install and no process; `Handoffs` is how they get work and give it back."""

    def __init__(self, name: str) -> None:
        self._name = name

    @override
    def facts(self) -> AgentFacts:
        return AgentFacts(
            name=self._name,
            label=LABEL,
            can_resume=False,
            reports_usage=False,
            reports_cost=True,
            is_free=True,
            is_person=True,
        )

    @override
    async def probe(self) -> AgentHealth:
        return AgentHealth(program="whilly handoff", version="a person", is_logged_in=True)

    @override
    def launch(self, request: SessionRequest) -> Launch:
        message = f"agent {self._name} is a person, not a program"
        raise ConfigError(message, remedy="whilly handoff list")

    @override
    def reader(self, prior: Prior = NOTHING_KNOWN) -> SessionReader:
        # There is no output; whoever reads finds none.
        return JsonlSessionReader(AgentDescriptor(name=self._name, argv=("person",), output="jsonl", cost="free"))
