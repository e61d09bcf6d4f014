"""The machine's clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import final

from typing_extensions import override

from whilly.ports.clock import Clock


@final
class SystemClock(Clock):
    """The machine's wall clock and its monotonic clock."""

    @override
    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - this is the one home of the wall clock

    @override
    def monotonic(self) -> float:
        return time.monotonic()
