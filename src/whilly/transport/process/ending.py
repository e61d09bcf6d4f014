"""Ending processes so that nothing is left, and making sure."""

from __future__ import annotations

import asyncio
import signal
import time
from typing import TYPE_CHECKING

from whilly.domain.errors import Unavailable
from whilly.transport.process.census import find_carriers

if TYPE_CHECKING:
    from collections.abc import Callable

    from whilly.transport.process.census import Carrier

_KILLING_S = 10.0
_SURE_AFTER = 2
"""Looks in a row that must find nothing: a process that is just being replaced (execve) shows no environment."""


async def end_carriers(state_dir: str, is_wanted: Callable[[str], bool], patience: float) -> list[Carrier]:
    """End every process of the attempts that are wanted: TERM, `patience` seconds, KILL; which ones there were.

    Raises:
        Unavailable: something is left that not even KILL has ended.
    """
    met: dict[int, Carrier] = {}
    kill_at = time.monotonic() + patience
    empty = 0
    while empty < _SURE_AFTER:
        is_killing = time.monotonic() >= kill_at
        found = await asyncio.to_thread(_strike, state_dir, is_wanted, met, is_killing=is_killing)
        empty = 0 if found else empty + 1
        if found and time.monotonic() > kill_at + _KILLING_S:
            left = ", ".join(f"{carrier.pid} ({carrier.name})" for carrier in found)
            message = f"these processes cannot be ended: {left}"
            raise Unavailable(message, remedy="end them by hand, or restart the machine")
        if empty < _SURE_AFTER:
            await asyncio.sleep(0.01)
    return list(met.values())


def _strike(
    state_dir: str, is_wanted: Callable[[str], bool], met: dict[int, Carrier], *, is_killing: bool
) -> list[Carrier]:
    found = []
    for carrier in find_carriers(state_dir, is_wanted):
        if is_killing:
            carrier.signal(signal.SIGKILL)
        elif met.get(carrier.pid) != carrier:
            carrier.signal(signal.SIGTERM)
        met[carrier.pid] = carrier
        found.append(carrier)
    return found
