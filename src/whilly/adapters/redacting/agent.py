"""Agents whose readers tell no secrets: all that people see of a session, and all that is stored of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.ports.agent import NOTHING_KNOWN, Agent, SessionReader

if TYPE_CHECKING:
    from whilly.domain.redaction import Redactor
    from whilly.domain.session import (
        Activity,
        AgentFacts,
        AgentHealth,
        Exit,
        Launch,
        Prior,
        SessionReport,
        SessionRequest,
    )


@final
class RedactedAgent(Agent):
    """An agent, and a redactor for what its sessions say."""

    def __init__(self, agent: Agent, redactor: Redactor) -> None:
        self._agent = agent
        self._redactor = redactor

    @override
    def facts(self) -> AgentFacts:
        return self._agent.facts()

    @override
    async def probe(self) -> AgentHealth:
        return await self._agent.probe()

    @override
    def launch(self, request: SessionRequest) -> Launch:
        return self._agent.launch(request)

    @override
    def reader(self, prior: Prior = NOTHING_KNOWN) -> SessionReader:
        return _RedactedReader(self._agent.reader(prior), self._redactor)


@final
class _RedactedReader(SessionReader):
    def __init__(self, reader: SessionReader, redactor: Redactor) -> None:
        self._reader = reader
        self._redactor = redactor

    @override
    def feed(self, line: bytes) -> list[Activity]:
        return [replace(each, text=self._redactor.clean(each.text)) for each in self._reader.feed(line)]

    @override
    def fatal(self) -> str:
        return self._redactor.clean(self._reader.fatal())

    @override
    def is_over(self) -> bool:
        return self._reader.is_over()

    @override
    def report(self, exit_: Exit) -> SessionReport:
        report = self._reader.report(exit_)
        clean = self._redactor.clean
        return replace(report, reason=clean(report.reason), final_message=clean(report.final_message))
