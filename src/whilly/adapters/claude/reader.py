"""ClaudeSessionReader: reads `claude -p --output-format stream-json --verbose`.

Only the events' own fields count; words inside messages, tool calls and tool results never decide anything.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, final

from typing_extensions import override

from whilly.adapters.claude.activity import describe_tool
from whilly.adapters.claude.usage import UsageCount
from whilly.adapters.claude.verdict import AUTH_ERRORS, Verdict, judge_result
from whilly.domain.attempt import Outcome
from whilly.domain.ids import SessionId
from whilly.domain.session import Activity, SessionReport, judge_exit
from whilly.ports.agent import NOTHING_KNOWN, SessionReader
from whilly.transport.http_status import judge_status
from whilly.transport.jsonlines import cut_line, get_count, get_text, parse_object

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from whilly.adapters.command.descriptor import AgentDescriptor
    from whilly.domain.session import Exit, Prior

SYNTHETIC = "<synthetic>"
"""The model of messages that the CLI writes itself to report an error."""


@final
class ClaudeSessionReader(SessionReader):
    """One session of Claude Code."""

    def __init__(self, descriptor: AgentDescriptor, _prior: Prior = NOTHING_KNOWN) -> None:
        self._label = descriptor.label
        self._login = descriptor.login
        self._usage = UsageCount()
        self._session: SessionId | None = None
        self._cwd = ""
        self._has_key = False
        self._result: dict[str, Any] | None = None
        self._message = ""
        self._error = ""
        self._error_at: datetime | None = None
        self._retry_delay = timedelta(0)
        self._refusals = 0
        self._limit: Mapping[str, Any] = {}
        self._streamed_id = ""
        self._readers: dict[str, Callable[[dict[str, Any]], list[Activity]]] = {
            "assistant": self._read_assistant,
            "system": self._read_system,
            "stream_event": self._read_stream_event,
            "rate_limit_event": self._read_limit,
            "result": self._read_result,
        }

    @override
    def feed(self, line: bytes) -> list[Activity]:
        event = parse_object(line)
        read = self._readers.get(get_text(event, "type"))
        if event is None or read is None:
            return []
        self._session = SessionId(get_text(event, "session_id")) or self._session
        return read(event)

    @override
    def fatal(self) -> str:
        # A refused key stays refused. A login may be renewed by the CLI after the first refusal.
        if self._result is None and self._refusals >= (1 if self._has_key else 2):
            return f"{self._label}: the provider refuses the login → {self._login}"
        return ""

    @override
    def is_over(self) -> bool:
        return self._result is not None

    @override
    def report(self, exit_: Exit) -> SessionReport:
        verdict = self._judge(exit_)
        outcome = verdict.outcome
        remedy = f" → {self._login}" if outcome is Outcome.AUTH_FAILED else ""
        return SessionReport(
            outcome=outcome,
            final_message=self._find_message(outcome),
            reason="" if outcome is Outcome.COMPLETED else f"{self._label}: {verdict.reason}{remedy}",
            usage=self._usage.total(is_refused=outcome in {Outcome.AUTH_FAILED, Outcome.LIMITED}),
            session=None if verdict.is_session_lost else self._session,
            retry_at=self._find_retry(outcome),
            is_session_lost=verdict.is_session_lost,
        )

    @property
    def _is_limited(self) -> bool:
        return get_text(self._limit, "status") == "rejected" and self._limit.get("isUsingOverage") is not True

    def _judge(self, exit_: Exit) -> Verdict:
        if self._result is not None:
            verdict = judge_result(self._result, self._error, is_limited=self._is_limited)
            if verdict.outcome is Outcome.COMPLETED and (exit_.code != 0 or exit_.cause):
                return Verdict(*judge_exit(exit_))
            return verdict
        if self.fatal() or self._error in AUTH_ERRORS:
            return Verdict(Outcome.AUTH_FAILED, "the provider refuses the login")
        if self._is_limited and exit_.cause not in {"stopped", "time_limit"}:
            return Verdict(Outcome.LIMITED, "the account's limit is reached")
        return Verdict(*judge_exit(exit_))

    def _find_message(self, outcome: Outcome) -> str:
        said = get_text(self._result, "result")
        return said if said and outcome is Outcome.COMPLETED else self._message

    def _find_retry(self, outcome: Outcome) -> datetime | None:
        if outcome is Outcome.LIMITED and self._is_limited:
            return _find_reset(self._limit)
        if outcome in {Outcome.LIMITED, Outcome.UNAVAILABLE} and self._error_at and self._retry_delay:
            return self._error_at + self._retry_delay
        return None

    def _read_system(self, event: dict[str, Any]) -> list[Activity]:
        match get_text(event, "subtype"):
            case "init":
                self._cwd = get_text(event, "cwd")
                self._has_key = get_text(event, "apiKeySource") not in {"", "none"}
            case "api_retry":
                error = get_text(event, "error")
                status = judge_status(get_count(event, "error_status"))
                is_refusal = status is Outcome.AUTH_FAILED or error in AUTH_ERRORS
                self._refusals = self._refusals + 1 if is_refusal else 0
                self._retry_delay = timedelta(milliseconds=min(get_count(event, "retry_delay_ms"), 10**9))
                tried = f"{get_count(event, 'attempt')} of {get_count(event, 'max_retries')}"
                return [Activity(text=cut_line(f"wait: {error}, retry {tried}"))]
            case "permission_denied":
                return [Activity(text=cut_line(f"denied: {get_text(event, 'tool_name')}"))]
            case _:
                pass
        return []

    def _read_assistant(self, event: dict[str, Any]) -> list[Activity]:
        message = event.get("message")
        if not isinstance(message, dict):
            return []
        if get_text(message, "model") == SYNTHETIC:
            self._error = get_text(event, "error")
            self._error_at = _parse_instant(get_text(event, "timestamp"))
            return []
        self._error, self._refusals, self._limit = "", 0, {}
        tokens = self._usage.see_message(message)
        is_main = not event.get("parent_tool_use_id")
        if is_main:
            # A turn that begins after a result has its own result to come.
            self._result = None
        return self._read_blocks(message, tokens, is_main=is_main)

    def _read_blocks(self, message: dict[str, Any], tokens: int, *, is_main: bool) -> list[Activity]:
        content = message.get("content")
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        said = "".join(get_text(block, "text") for block in blocks if get_text(block, "type") == "text")
        if said and is_main:
            self._message = said
        tools = [describe_tool(block, self._cwd) for block in blocks if get_text(block, "type") == "tool_use"]
        return [Activity(text=text, tokens=tokens if number == 0 else 0) for number, text in enumerate(tools)]

    def _read_stream_event(self, event: dict[str, Any]) -> list[Activity]:
        inner = event.get("event")
        if not isinstance(inner, dict):
            return []
        match get_text(inner, "type"):
            case "message_start":
                message = inner.get("message")
                self._streamed_id = get_text(message, "id")
                if isinstance(message, dict):
                    self._usage.see_message(message)
            case "message_delta" if self._streamed_id:
                self._usage.see_usage(self._streamed_id, inner.get("usage"))
            case _:
                pass
        return []

    def _read_limit(self, event: dict[str, Any]) -> list[Activity]:
        info = event.get("rate_limit_info")
        self._limit = info if isinstance(info, dict) else {}
        return []

    def _read_result(self, event: dict[str, Any]) -> list[Activity]:
        self._usage.see_result(event)
        self._result = event
        return []


def _find_reset(limit: Mapping[str, Any]) -> datetime | None:
    """When the limit that rejects resets; the latest of those that do, if only the windows say so."""
    windows = limit.get("unifiedWindows")
    rejecting = (
        [w for w in windows.values() if get_text(w, "status") == "rejected"] if isinstance(windows, dict) else []
    )
    instants = [_parse_instant(each.get("resetsAt")) for each in (limit, *rejecting)]
    known = [instant for instant in instants if instant]
    return instants[0] or max(known, default=None)


def _parse_instant(value: object) -> datetime | None:
    """An instant as ISO text or in seconds since 1970."""
    try:
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            return datetime.fromtimestamp(float(value), UTC)
        instant = datetime.fromisoformat(value) if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None
    return instant.astimezone(UTC) if instant and instant.tzinfo else None
