"""JsonlSessionReader: a CLI, or a script around one, that speaks Whilly's own JSON lines.

    {"type": "start", "session": "…"}
    {"type": "activity", "text": "edit src/app.py", "tokens": 120}
    {"type": "result", "message": "… <promise>COMPLETE</promise>", "session": "…", "cost_usd": 0.12,
     "usage": {"input_tokens": 1, "output_tokens": 1, "cache_read_tokens": 0, "cache_write_tokens": 0, "turns": 1}}

A result may say that the session failed: `"outcome": "limited", "reason": "…", "retry_at": "2030-01-01T00:00:00Z"`.
The last result stands; its cost and usage are those of the whole process. Other lines are passed over.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, final

from typing_extensions import override

from whilly.domain.attempt import Outcome, Usage
from whilly.domain.ids import SessionId
from whilly.domain.session import Activity, SessionReport, judge_exit
from whilly.ports.agent import NOTHING_KNOWN, SessionReader
from whilly.transport.jsonlines import cut_line, get_count, get_money, get_text, parse_object

if TYPE_CHECKING:
    from whilly.adapters.command.descriptor import AgentDescriptor
    from whilly.domain.session import Exit, Prior

SAYABLE = frozenset(
    {
        Outcome.COMPLETED,
        Outcome.NO_PROGRESS,
        Outcome.LIMITED,
        Outcome.AUTH_FAILED,
        Outcome.OVER_BUDGET,
        Outcome.UNAVAILABLE,
        Outcome.CRASHED,
        Outcome.ASKED,
    }
)
"""The outcomes that a CLI may give itself; the others are the engine's to give."""


@final
class JsonlSessionReader(SessionReader):
    """Reads `start`, `activity` and `result` lines."""

    def __init__(self, descriptor: AgentDescriptor, _prior: Prior = NOTHING_KNOWN) -> None:
        self._name = descriptor.name
        self._cost = descriptor.cost
        self._session: SessionId | None = None
        self._result: dict[str, Any] | None = None

    @override
    def feed(self, line: bytes) -> list[Activity]:
        event = parse_object(line)
        if event is None:
            return []
        self._session = SessionId(get_text(event, "session")) or self._session
        kind = get_text(event, "type")
        if kind == "result":
            self._result = event
        text = cut_line(get_text(event, "text")) if kind == "activity" else ""
        return [Activity(text=text, tokens=get_count(event, "tokens"))] if text else []

    @override
    def fatal(self) -> str:
        return ""

    @override
    def is_over(self) -> bool:
        return self._result is not None

    @override
    def report(self, exit_: Exit) -> SessionReport:
        result = self._result or {}
        outcome, reason = self._judge(result, exit_)
        return SessionReport(
            outcome=outcome,
            final_message=get_text(result, "message"),
            reason="" if outcome is Outcome.COMPLETED else f"{self._name}: {reason}",
            usage=self._count(result),
            session=self._session,
            retry_at=_parse_instant(get_text(result, "retry_at")),
        )

    def _judge(self, result: dict[str, Any], exit_: Exit) -> tuple[Outcome, str]:
        if not result:
            return judge_exit(exit_)
        said = get_text(result, "outcome") or Outcome.COMPLETED
        if said not in SAYABLE:
            return Outcome.CRASHED, f"it reports an outcome that does not exist: {cut_line(said)}"
        if said == Outcome.COMPLETED and (exit_.code != 0 or exit_.cause):
            return judge_exit(exit_)
        return Outcome(said), cut_line(get_text(result, "reason")) or said

    def _count(self, result: dict[str, Any]) -> Usage:
        counts = result.get("usage")
        cost = {"free": Decimal(0), "reported": get_money(result, "cost_usd")}.get(self._cost)
        return Usage(
            cost_usd=cost,
            input_tokens=get_count(counts, "input_tokens"),
            output_tokens=get_count(counts, "output_tokens"),
            cache_read_tokens=get_count(counts, "cache_read_tokens"),
            cache_write_tokens=get_count(counts, "cache_write_tokens"),
            turns=get_count(counts, "turns"),
        )


def _parse_instant(text: str) -> datetime | None:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant.astimezone(UTC) if instant.tzinfo else None
