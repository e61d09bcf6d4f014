"""TextSessionReader: a CLI that writes plain text; its exit code decides."""

from __future__ import annotations

from collections import deque
from decimal import Decimal
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.domain.attempt import Outcome, Usage
from whilly.domain.session import Activity, SessionReport, judge_exit
from whilly.ports.agent import NOTHING_KNOWN, SessionReader
from whilly.transport.jsonlines import cut_line

if TYPE_CHECKING:
    from whilly.adapters.command.descriptor import AgentDescriptor
    from whilly.domain.session import Exit, Prior

MAX_MESSAGE = 64 * 1024
"""Bytes of output that are kept: its end, where a completion marker stands."""


@final
class TextSessionReader(SessionReader):
    """The end of everything that was written is the final message."""

    def __init__(self, descriptor: AgentDescriptor, _prior: Prior = NOTHING_KNOWN) -> None:
        self._name = descriptor.name
        self._usage = Usage(cost_usd=Decimal(0)) if descriptor.cost == "free" else None
        self._lines: deque[bytes] = deque()
        self._size = 0

    @override
    def feed(self, line: bytes) -> list[Activity]:
        line = line.rstrip(b"\r\n")[-MAX_MESSAGE:]
        self._lines.append(line)
        self._size += len(line) + 1
        while self._size - len(self._lines[0]) - 1 >= MAX_MESSAGE:
            self._size -= len(self._lines.popleft()) + 1
        text = cut_line(line.decode("utf-8", errors="replace"))
        return [Activity(text=text)] if text else []

    @override
    def fatal(self) -> str:
        return ""

    @override
    def is_over(self) -> bool:
        return False

    @override
    def report(self, exit_: Exit) -> SessionReport:
        message = b"\n".join(self._lines)[-MAX_MESSAGE:].decode("utf-8", errors="replace")
        if exit_.code == 0 and not exit_.cause:
            return SessionReport(outcome=Outcome.COMPLETED, final_message=message, usage=self._usage)
        outcome, reason = judge_exit(exit_)
        return SessionReport(
            outcome=outcome, final_message=message, reason=f"{self._name}: {reason}", usage=self._usage
        )
