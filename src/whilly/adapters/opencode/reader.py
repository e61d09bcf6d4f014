"""OpencodeSessionReader: reads `opencode run --format json`.

There is no last event that says how it went: success is exit code 0 after a step that ended with `stop`. Only the
events' own fields count; words inside messages and tool results never decide anything.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, final

from typing_extensions import override

from whilly.adapters.opencode.verdict import LOST_SESSION, REFUSED, find_reset, judge_error
from whilly.domain.attempt import Outcome, Usage, add_usage
from whilly.domain.ids import SessionId
from whilly.domain.session import Activity, SessionReport, judge_exit
from whilly.ports.agent import NOTHING_KNOWN, SessionReader
from whilly.transport.jsonlines import cut_line, get_count, get_money, get_text, parse_object

if TYPE_CHECKING:
    from collections.abc import Callable

    from whilly.adapters.command.descriptor import AgentDescriptor
    from whilly.domain.session import Exit, Prior

TOOLS = {
    "bash": ("$", "command"),
    "write": ("write", "filePath"),
    "edit": ("edit", "filePath"),
    "read": ("read", "filePath"),
    "list": ("list", "path"),
    "glob": ("list", "pattern"),
    "grep": ("search", "pattern"),
    "task": ("delegate", "description"),
    "webfetch": ("fetch", "url"),
    "websearch": ("search the web:", "query"),
}
"""Tool → verb, and the key of its input that says what it is about."""

RETRIED = frozenset({Outcome.LIMITED, Outcome.UNAVAILABLE})
UNSPENT = Usage(cost_usd=Decimal(0))


@final
class OpencodeSessionReader(SessionReader):
    """One session of OpenCode."""

    def __init__(self, descriptor: AgentDescriptor, _prior: Prior = NOTHING_KNOWN) -> None:
        self._label = descriptor.label
        self._login = descriptor.login
        self._is_free = descriptor.cost == "free"
        self._session: SessionId | None = None
        self._usage = UNSPENT
        self._is_open = False
        self._ending = ""
        self._message: list[str] = []
        self._speaker = ""
        self._asked = ""
        self._error: dict[str, Any] | None = None
        self._error_ms = 0
        self._readers: dict[str, Callable[[dict[str, Any], dict[str, Any]], list[Activity]]] = {
            "step_start": self._read_start,
            "text": self._read_text,
            "tool_use": self._read_tool,
            "step_finish": self._read_finish,
            "error": self._read_error,
        }

    @override
    def feed(self, line: bytes) -> list[Activity]:
        event = parse_object(line)
        read = self._readers.get(get_text(event, "type"))
        if event is None or read is None:
            return []
        self._session = SessionId(get_text(event, "sessionID")) or self._session
        part = event.get("part")
        return read(event, part if isinstance(part, dict) else {})

    @override
    def fatal(self) -> str:
        return ""

    @override
    def is_over(self) -> bool:
        return self._error is not None or (self._ending == "stop" and not self._is_open)

    @override
    def report(self, exit_: Exit) -> SessionReport:
        outcome, reason = self._judge(exit_)
        is_lost = self._session is None and LOST_SESSION in exit_.stderr_tail
        remedy = f" → {self._login}" if outcome is Outcome.AUTH_FAILED else ""
        return SessionReport(
            outcome=outcome,
            final_message="".join(self._message),
            reason="" if outcome is Outcome.COMPLETED else f"{self._label}: {cut_line(reason, 400)}{remedy}",
            usage=self._count(is_known=is_lost or self._error is not None or bool(self._ending)),
            session=self._session,
            retry_at=find_reset(self._error, self._error_ms) if self._error and outcome in RETRIED else None,
            is_session_lost=is_lost,
        )

    def _judge(self, exit_: Exit) -> tuple[Outcome, str]:
        if exit_.cause or (exit_.code != 0 and self._error is None):
            return judge_exit(exit_)
        if self._error is not None:
            said = get_text(self._error.get("data"), "message") or get_text(self._error, "name")
            return judge_error(self._error), said or "the session failed"
        return self._judge_ending() if self._ending else judge_exit(exit_)

    def _judge_ending(self) -> tuple[Outcome, str]:
        if self._ending == "stop" and not self._is_open:
            return Outcome.COMPLETED, ""
        if self._asked:
            return Outcome.ASKED, f"it asked for permission: {self._asked}"
        return Outcome.NO_PROGRESS, f"its last step ended with {cut_line(self._ending)!r}"

    def _count(self, *, is_known: bool) -> Usage | None:
        """All steps together. The cost is unknown while a step is open, and when its model has no price."""
        if not is_known and not self._is_open:
            return None
        usage = self._usage
        if self._is_free:
            return usage
        is_unpriced = usage.cost_usd == 0 and any(usage.tokens)
        unknown = self._is_open or is_unpriced
        return Usage(None, *usage.tokens, usage.turns) if unknown else usage

    def _read_start(self, _event: dict[str, Any], _part: dict[str, Any]) -> list[Activity]:
        self._is_open = True
        self._asked, self._error = "", None
        return []

    def _read_text(self, _event: dict[str, Any], part: dict[str, Any]) -> list[Activity]:
        speaker = get_text(part, "messageID")
        if speaker != self._speaker:
            self._speaker, self._message = speaker, []
        self._message.append(get_text(part, "text"))
        return []

    def _read_tool(self, _event: dict[str, Any], part: dict[str, Any]) -> list[Activity]:
        state = part.get("state")
        state = state if isinstance(state, dict) else {}
        name = get_text(part, "tool")
        verb, key = TOOLS.get(name, (name, ""))
        line = cut_line(f"{verb} {get_text(state.get('input'), key)}") or "tool"
        if get_text(state, "error").startswith(REFUSED):
            self._asked = line
            return [Activity(text=cut_line(f"denied: {line}"))]
        return [Activity(text=line)]

    def _read_finish(self, _event: dict[str, Any], part: dict[str, Any]) -> list[Activity]:
        self._is_open = False
        self._ending = get_text(part, "reason") or "no reason"
        tokens = part.get("tokens")
        cache = tokens.get("cache") if isinstance(tokens, dict) else None
        step = Usage(
            cost_usd=get_money(part, "cost"),
            input_tokens=get_count(tokens, "input"),
            output_tokens=get_count(tokens, "output") + get_count(tokens, "reasoning"),
            cache_read_tokens=get_count(cache, "read"),
            cache_write_tokens=get_count(cache, "write"),
            turns=1,
        )
        self._usage = add_usage(self._usage, step)
        return []

    def _read_error(self, event: dict[str, Any], _part: dict[str, Any]) -> list[Activity]:
        error = event.get("error")
        self._error = error if isinstance(error, dict) else {}
        self._error_ms = get_count(event, "timestamp")
        return []
