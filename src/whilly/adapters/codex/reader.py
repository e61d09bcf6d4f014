"""CodexSessionReader: reads `codex exec --json`.

Only the events' own fields count; words inside messages, commands and their output never decide anything.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, final

from typing_extensions import override

from whilly.adapters.codex.activity import describe_item
from whilly.adapters.codex.verdict import (
    LOST_SESSION,
    RETRYING,
    find_reset,
    find_status,
    judge_error,
)
from whilly.domain.attempt import Outcome, Usage
from whilly.domain.ids import SessionId
from whilly.domain.session import Activity, SessionReport, judge_exit
from whilly.ports.agent import SessionReader
from whilly.transport.http_status import judge_status
from whilly.transport.jsonlines import cut_line, get_count, get_text, parse_object

if TYPE_CHECKING:
    from collections.abc import Callable

    from whilly.adapters.command.descriptor import AgentDescriptor
    from whilly.domain.session import Exit, Prior

MAX_REFUSALS = 2
"""The first refusal of a login may make Codex renew it."""


@final
class CodexSessionReader(SessionReader):
    """One session of Codex."""

    def __init__(self, descriptor: AgentDescriptor, prior: Prior) -> None:
        self._label = descriptor.label
        self._login = descriptor.login
        self._prior = prior
        self._session: SessionId | None = None
        self._totals: dict[str, Any] | None = None
        self._error = ""
        self._message = ""
        self._refusals = 0
        self._turns = 0
        self._seen: set[str] = set()
        self._readers: dict[str, Callable[[dict[str, Any]], list[Activity]]] = {
            "thread.started": self._read_thread,
            "item.started": self._read_item,
            "item.completed": self._read_item,
            "turn.completed": self._read_completion,
            "turn.failed": self._read_failure,
            "error": self._read_error,
        }

    @override
    def feed(self, line: bytes) -> list[Activity]:
        event = parse_object(line)
        read = self._readers.get(get_text(event, "type"))
        return read(event) if event is not None and read is not None else []

    @override
    def fatal(self) -> str:
        if self._totals is None and self._refusals >= MAX_REFUSALS:
            return f"{self._label}: the provider refuses the login → {self._login}"
        return ""

    @override
    def is_over(self) -> bool:
        return self._totals is not None

    @override
    def report(self, exit_: Exit) -> SessionReport:
        outcome, reason = self._judge(exit_)
        is_lost = self._session is None and LOST_SESSION in exit_.stderr_tail
        remedy = f" → {self._login}" if outcome is Outcome.AUTH_FAILED else ""
        return SessionReport(
            outcome=outcome,
            final_message=self._message,
            reason="" if outcome is Outcome.COMPLETED else f"{self._label}: {cut_line(reason, 400)}{remedy}",
            usage=self._count(is_failed=bool(self._error) or is_lost),
            session=self._session,
            retry_at=find_reset(self._error, self._prior.began_at) if outcome is Outcome.LIMITED else None,
            is_session_lost=is_lost,
            holds_past=self._holds_past(),
        )

    def _judge(self, exit_: Exit) -> tuple[Outcome, str]:
        if self.fatal():
            return Outcome.AUTH_FAILED, "the provider refuses the login"
        if self._error and not exit_.cause:
            return judge_error(self._error), self._error
        if self._totals is not None and exit_.code == 0 and not exit_.cause:
            return Outcome.COMPLETED, ""
        return judge_exit(exit_)

    def _count(self, *, is_failed: bool) -> Usage | None:
        """This attempt's own tokens; None while nobody knows them.

        Codex counts over the whole thread, its earlier processes included. Cached tokens are a part of its input.
        """
        if self._totals is None:
            # Refused before the model said anything: nothing was spent.
            return Usage(cost_usd=Decimal(0)) if is_failed and not self._seen else None
        totals = self._totals
        cached, written = get_count(totals, "cached_input_tokens"), get_count(totals, "cache_write_input_tokens")
        fresh = max(get_count(totals, "input_tokens") - cached - written, 0)
        counts = (fresh, get_count(totals, "output_tokens"), cached, written)
        booked = self._prior.booked.tokens if self._holds_past() else (0, 0, 0, 0)
        fresh, said, cached, written = (max(now - before, 0) for now, before in zip(counts, booked, strict=True))
        return Usage(None, fresh, said, cached, written, self._turns)

    def _holds_past(self) -> bool:
        """Whether the totals are those of a thread that was gone on with."""
        total = get_count(self._totals, "input_tokens") + get_count(self._totals, "output_tokens")
        is_same = self._session is not None and self._session == self._prior.session
        return is_same and total >= sum(self._prior.booked.tokens)

    def _read_thread(self, event: dict[str, Any]) -> list[Activity]:
        self._session = SessionId(get_text(event, "thread_id")) or self._session
        return []

    def _read_item(self, event: dict[str, Any]) -> list[Activity]:
        item = event.get("item")
        if not isinstance(item, dict) or get_text(item, "type") in {"", "error"}:
            return []
        self._refusals = 0
        if get_text(item, "type") == "agent_message":
            self._message = get_text(item, "text")
        name = get_text(item, "id") or f"#{len(self._seen)}"
        is_new = name not in self._seen
        self._seen.add(name)
        return [Activity(text=text) for text in describe_item(item, "") if text] if is_new else []

    def _read_completion(self, event: dict[str, Any]) -> list[Activity]:
        usage = event.get("usage")
        self._totals = usage if isinstance(usage, dict) else {}
        self._error = ""
        self._turns += 1
        return []

    def _read_failure(self, event: dict[str, Any]) -> list[Activity]:
        self._error = get_text(event.get("error"), "message") or self._error or "the turn failed"
        return []

    def _read_error(self, event: dict[str, Any]) -> list[Activity]:
        message = get_text(event, "message")
        is_refusal = judge_status(find_status(message)) is Outcome.AUTH_FAILED
        self._refusals = self._refusals + 1 if is_refusal else 0
        if message.startswith(RETRYING):
            return [Activity(text=cut_line(f"wait: {message}"))]
        self._error = message
        return []
