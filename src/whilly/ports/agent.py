"""Agent: one agent CLI, as a way to build its command line and to read its output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from whilly.domain.session import Prior

if TYPE_CHECKING:
    from whilly.domain.session import Activity, AgentFacts, AgentHealth, Exit, Launch, SessionReport, SessionRequest

NOTHING_KNOWN = Prior()


class SessionReader(Protocol):
    """Reads one session's standard output, line by line; feeding all lines again to a fresh reader is harmless."""

    def feed(self, line: bytes) -> list[Activity]:
        """What this line says the agent did. A line is never an error: what is not understood is passed over."""
        ...

    def fatal(self) -> str:
        """Why waiting for the end is pointless, once the lines so far say so; empty otherwise.

        Example: a refused login that the CLI tries again and again. `report` gives its outcome after the stop.
        """
        ...

    def is_over(self) -> bool:
        """Whether the CLI has said its last word by the lines so far: whoever is silent after that does not work."""
        ...

    def report(self, exit_: Exit) -> SessionReport:
        """What the session came to, once its process has ended."""
        ...


class Agent(Protocol):
    """One agent CLI. Everything here is free of side effects except `probe`."""

    def facts(self) -> AgentFacts:
        """What it can do."""
        ...

    async def probe(self) -> AgentHealth:
        """Look for it on this machine, without starting a session and without spending money."""
        ...

    def launch(self, request: SessionRequest) -> Launch:
        """The process that holds the session.

        Raises:
            ConfigError: the CLI is not installed or its settings cannot make a command line.
        """
        ...

    def reader(self, prior: Prior = NOTHING_KNOWN) -> SessionReader:
        """A fresh reader for one session.

        What it reports is this attempt's own, also of a CLI whose reports repeat what the session used before.
        """
        ...
