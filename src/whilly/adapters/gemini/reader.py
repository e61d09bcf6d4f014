"""GeminiSessionReader: reads `gemini --output-format stream-json`.

Only the events' own fields count; words inside messages and tool results never decide anything.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, final

from typing_extensions import override

from whilly.adapters.gemini.verdict import EXIT_CODES, LOOP, LOST_SESSION, find_reset, judge_error
from whilly.domain.attempt import Outcome, Usage
from whilly.domain.ids import SessionId
from whilly.domain.session import Activity, SessionReport, judge_exit
from whilly.ports.agent import NOTHING_KNOWN, SessionReader
from whilly.transport.jsonlines import cut_line, get_count, get_text, parse_object

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from whilly.adapters.command.descriptor import AgentDescriptor
    from whilly.domain.session import Exit, Prior

TOOLS = {
    "run_shell_command": ("$", "command"),
    "write_file": ("write", "file_path"),
    "replace": ("edit", "file_path"),
    "read_file": ("read", "file_path"),
    "list_directory": ("list", "dir_path"),
    "glob": ("list", "pattern"),
    "grep_search": ("search", "pattern"),
    "google_web_search": ("search the web:", "query"),
    "web_fetch": ("fetch", "prompt"),
    "invoke_agent": ("delegate", "prompt"),
}
"""Tool → verb, and the parameter that says what it is about."""


@final
class GeminiSessionReader(SessionReader):
    """One session of Gemini CLI."""

    def __init__(self, descriptor: AgentDescriptor, _prior: Prior = NOTHING_KNOWN) -> None:
        self._label = descriptor.label
        self._login = descriptor.login
        self._session: SessionId | None = None
        self._model = ""
        self._message = ""
        self._is_new = True
        self._turns = 0
        self._loop = ""
        self._result: dict[str, Any] | None = None
        self._readers: dict[str, Callable[[dict[str, Any]], list[Activity]]] = {
            "init": self._read_init,
            "message": self._read_message,
            "tool_use": self._read_tool,
            "tool_result": self._read_tool_result,
            "error": self._read_error,
            "result": self._read_result,
        }

    @override
    def feed(self, line: bytes) -> list[Activity]:
        event = parse_object(line)
        read = self._readers.get(get_text(event, "type"))
        return read(event) if event is not None and read is not None else []

    @override
    def fatal(self) -> str:
        return ""

    @override
    def is_over(self) -> bool:
        return self._result is not None

    @override
    def report(self, exit_: Exit) -> SessionReport:
        outcome, reason = self._judge(exit_)
        error = (self._result or {}).get("error")
        is_lost = self._session is None and LOST_SESSION in exit_.stderr_tail
        remedy = f" → {self._login}" if outcome is Outcome.AUTH_FAILED else ""
        at = get_text(self._result, "timestamp")
        return SessionReport(
            outcome=outcome,
            final_message=self._message,
            reason="" if outcome is Outcome.COMPLETED else f"{self._label}: {cut_line(reason, 400)}{remedy}",
            usage=self._count(is_refused=is_lost or outcome is Outcome.AUTH_FAILED),
            session=self._session,
            retry_at=find_reset(get_text(error, "message"), at) if outcome is Outcome.LIMITED else None,
            is_session_lost=is_lost,
            model=self._model,
        )

    def _judge(self, exit_: Exit) -> tuple[Outcome, str]:
        outcome, reason = judge_exit(exit_)
        if self._result is None or exit_.cause:
            is_own = self._session is None and not exit_.cause and exit_.code in EXIT_CODES
            return (EXIT_CODES[exit_.code or 0], reason) if is_own else (outcome, reason)
        if get_text(self._result, "status") != "success":
            error = self._result.get("error")
            error = error if isinstance(error, dict) else {}
            return judge_error(error, exit_.code or 0), get_text(error, "message") or "the session failed"
        if exit_.code != 0:
            return outcome, reason
        return (Outcome.NO_PROGRESS, self._loop) if self._loop else (Outcome.COMPLETED, "")

    def _count(self, *, is_refused: bool) -> Usage | None:
        """This process's own tokens; only the result has them. Thoughts are in the total alone and cost like output."""
        stats = (self._result or {}).get("stats")
        if not isinstance(stats, dict):
            return Usage(cost_usd=Decimal(0)) if is_refused and not self._turns else None
        read, cached = get_count(stats, "input_tokens"), get_count(stats, "cached")
        said = max(get_count(stats, "output_tokens"), get_count(stats, "total_tokens") - read)
        usage = Usage(None, max(read - cached, 0), said, cached, 0, self._turns)
        return usage if any(usage.tokens) else Usage(cost_usd=Decimal(0))

    def _read_init(self, event: dict[str, Any]) -> list[Activity]:
        self._session = SessionId(get_text(event, "session_id")) or self._session
        self._model = get_text(event, "model") or self._model
        return []

    def _read_message(self, event: dict[str, Any]) -> list[Activity]:
        if get_text(event, "role") == "assistant":
            # A message comes in pieces, which may divide any word.
            self._turns += self._is_new
            self._message = ("" if self._is_new else self._message) + get_text(event, "content")
            self._is_new = False
        return []

    def _read_tool(self, event: dict[str, Any]) -> list[Activity]:
        self._turns += self._is_new
        self._is_new = True
        return [Activity(text=describe_tool(get_text(event, "tool_name"), event.get("parameters")))]

    def _read_tool_result(self, _event: dict[str, Any]) -> list[Activity]:
        self._is_new = True
        return []

    def _read_error(self, event: dict[str, Any]) -> list[Activity]:
        message = get_text(event, "message")
        self._loop = message if message.startswith(LOOP) else self._loop
        return [Activity(text=cut_line(message))] if message else []

    def _read_result(self, event: dict[str, Any]) -> list[Activity]:
        self._result = event
        return []


def describe_tool(name: str, parameters: Mapping[str, Any] | object) -> str:
    """One line for a call of a tool."""
    verb, key = TOOLS.get(name, (name, ""))
    return cut_line(f"{verb} {get_text(parameters, key)}") or "tool"
