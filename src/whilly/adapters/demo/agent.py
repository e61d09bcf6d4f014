"""DemoAgent: shows the whole way of an item through Whilly where no agent CLI is installed."""

from __future__ import annotations

import platform
import shutil
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.command.descriptor import AgentDescriptor
from whilly.adapters.command.jsonl import JsonlSessionReader
from whilly.domain.errors import ConfigError
from whilly.domain.session import COMPLETION_MARKER, AgentFacts, AgentHealth, Launch
from whilly.ports.agent import NOTHING_KNOWN, Agent, SessionReader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.session import Prior, SessionRequest

LABEL = "demo agent (no model, no cost)"
PROGRAM = Path(__file__).with_name("program.py")
DESCRIPTOR = AgentDescriptor(name="demo", label=LABEL, argv=("{program}",), output="jsonl", cost="reported")


@final
class DemoAgent(Agent):
    """A deterministic agent in a process of its own.

    Args:
        python: the interpreter that runs it.
        pause: how long it pretends to think before it changes anything.
        env: its whole environment; it needs nothing on POSIX.
    """

    def __init__(
        self, python: str = sys.executable, pause: timedelta = timedelta(0), env: Mapping[str, str] | None = None
    ) -> None:
        self._python = python
        self._pause = pause
        self._env = dict(env or {})

    @override
    def facts(self) -> AgentFacts:
        return AgentFacts(
            name="demo", label=LABEL, can_resume=True, reports_usage=True, reports_cost=True, is_free=True
        )

    @override
    async def probe(self) -> AgentHealth:
        if shutil.which(self._python) is None:
            return AgentHealth(program="", problem=f"{self._python} is not a program", remedy="install Python")
        return AgentHealth(program=self._python, version=f"Python {platform.python_version()}", is_logged_in=True)

    @override
    def launch(self, request: SessionRequest) -> Launch:
        if shutil.which(self._python) is None:
            message = f"agent demo: {self._python} is not a program"
            raise ConfigError(message, remedy="install Python")
        told = (request.resume or request.session, str(self._pause.total_seconds()), LABEL, COMPLETION_MARKER)
        # -X utf8: the isolated interpreter ignores PYTHONUTF8, and the locale may be C.
        argv = (self._python, "-I", "-S", "-X", "utf8", str(PROGRAM), *told)
        return Launch(argv=argv, cwd=request.workspace, env=self._env, stdin=request.prompt, needs=(str(PROGRAM),))

    @override
    def reader(self, prior: Prior = NOTHING_KNOWN) -> SessionReader:
        return JsonlSessionReader(DESCRIPTOR)
