"""Ctrl-C and SIGTERM, before and while a plan is worked on."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_NUMBERS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Signals, counted."""

    def __init__(self) -> None:
        self.count = 0
        self.obeyed = 0

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        """A signal has come."""
        self.count += 1


@contextmanager
def catch_interrupts() -> Iterator[Interrupts]:
    """Count signals instead of dying of them, until the block ends."""
    interrupts = Interrupts()
    with _handle(interrupts):
        yield interrupts


@contextmanager
def obey_interrupts() -> Iterator[None]:
    """Both signals end the block as a `KeyboardInterrupt`: nothing has been started that would have to be ended."""
    with _handle(signal.default_int_handler):
        yield


@contextmanager
def _handle(handler: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    before = [signal.signal(number, handler) for number in _NUMBERS]
    try:
        yield
    finally:
        for number, old in zip(_NUMBERS, before, strict=True):
            signal.signal(number, old)
