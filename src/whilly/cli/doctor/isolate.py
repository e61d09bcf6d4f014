"""Questions that are asked at the same time, so that no answer has to wait for another and no failure spreads."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T = TypeVar("T")

_SLACK_S = 0.5
"""What a question that can be cancelled may need to clean up after its limit."""


@dataclass(frozen=True, slots=True)
class Silence:
    """There was no answer within the limit."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Surprise:
    """There was an error that nobody foresaw."""

    error: Exception


@final
class Asked(Generic[T]):
    """A question that is being answered in a thread of its own, which does not keep the process alive.

    Args:
        ask: gives the answer; it may block its thread.
        limit: seconds that it may take.
    """

    def __init__(self, ask: Callable[[], Coroutine[Any, Any, T]], limit: float) -> None:
        self._ask = ask
        self._limit = limit
        self._said: T | Silence | Surprise = Silence(limit)
        self._deadline = time.monotonic() + limit + _SLACK_S
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def answer(self) -> T | Silence | Surprise:
        """What came of it, as soon as it is there; at the latest when the limit has passed."""
        self._thread.join(max(0.0, self._deadline - time.monotonic()))
        return self._said

    def _work(self) -> None:
        try:
            self._said = asyncio.run(self._find())
        except TimeoutError:
            return
        except Exception as error:  # noqa: BLE001  (what one check did not foresee must not hide what others found)
            self._said = Surprise(error)

    async def _find(self) -> T:
        async with asyncio.timeout(self._limit):
            return await self._ask()
