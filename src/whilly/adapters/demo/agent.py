"""DemoAgent: shows the whole way of an item through Whilly where no agent CLI is installed."""

from __future__ import annotations

import platform
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from typing_extensions import override

from whilly.domain.attempt import Outcome, Usage
from whilly.domain.ids import SessionId
from whilly.domain.session import (
    COMPLETION_MARKER,
    Activity,
    AgentFacts,
    AgentHealth,
    Launch,
    SessionReport,
    judge_exit,
)
from whilly.ports.agent import Agent, SessionReader
from whilly.transport.jsonlines import cut_line, get_count, get_money, get_text, parse_object

if TYPE_CHECKING:
    from whilly.domain.session import Exit, SessionRequest

LABEL = "demo agent (no model, no cost)"
PROGRAM = Path(__file__).with_name("program.py")


@final
class DemoAgent(Agent):
    """A deterministic agent in a process of its own.

    Args:
        python: the interpreter that runs it.
        pause: how long it pretends to think before it changes anything.
        env: its whole environment; it needs nothing on POSIX.
    """

    def __init__(
        self, python: str = sys.executable, pause: timedelta = timedelta(0), env: dict[str, str] | None = None
    ) -> None:
        self._python = python
        self._pause = pause
        self._env = dict(env or {})

    @override
    def facts(self) -> AgentFacts:
        return AgentFacts(name="demo", label=LABEL, can_resume=True, reports_usage=True, reports_cost=True)

    @override
    async def probe(self) -> AgentHealth:
        return AgentHealth(program=self._python, version=f"Python {platform.python_version()}", is_logged_in=True)

    @override
    def launch(self, request: SessionRequest) -> Launch:
        session = request.resume or request.session
        pause = str(self._pause.total_seconds())
        # -X utf8: the isolated interpreter ignores PYTHONUTF8, and the locale may be C.
        argv = (self._python, "-I", "-S", "-X", "utf8", str(PROGRAM), session, pause, COMPLETION_MARKER)
        return Launch(argv=argv, cwd=request.workspace, env=self._env, stdin=request.prompt)

    @override
    def reader(self) -> SessionReader:
        return DemoSessionReader()


@final
class DemoSessionReader(SessionReader):
    """Reads the demo program's lines: `start`, `edit`, `skip`, `result`."""

    def __init__(self) -> None:
        self._session: SessionId | None = None
        self._result: dict[str, Any] | None = None

    @override
    def feed(self, line: bytes) -> list[Activity]:
        event = parse_object(line)
        if event is None:
            return []
        self._session = SessionId(get_text(event, "session")) or self._session
        match get_text(event, "type"):
            case "edit":
                return [Activity(text=cut_line(f"edit {get_text(event, 'path')}"))]
            case "skip":
                return [Activity(text=cut_line(f"skip {get_text(event, 'path')}: {get_text(event, 'reason')}"))]
            case "result":
                self._result = event
            case _:
                pass
        return []

    @override
    def fatal(self) -> str:
        return ""

    @override
    def report(self, exit_: Exit) -> SessionReport:
        if self._result is None or exit_.code != 0:
            outcome, reason = judge_exit(exit_)
            return SessionReport(outcome=outcome, reason=f"demo agent: {reason}", session=self._session)
        counts = self._result.get("usage")
        usage = Usage(
            cost_usd=get_money(self._result, "cost_usd"),
            input_tokens=get_count(counts, "input_tokens"),
            output_tokens=get_count(counts, "output_tokens"),
            turns=get_count(counts, "turns"),
        )
        message = get_text(self._result, "message")
        return SessionReport(outcome=Outcome.COMPLETED, final_message=message, usage=usage, session=self._session)
