"""One shell command: its output kept within bounds, its end seen even when others hold its output open."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HEAD_BYTES = 64 * 1024
TAIL_BYTES = 256 * 1024
_SILENCE = 0.25


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended.

    Attributes:
        code: exit code; `128 + n` after signal n, as the shell says it; None when its time was up.
        output: standard output and error in the order of writing; the middle of a very long one is left out.
    """

    code: int | None
    output: bytes


@final
class Window:
    """The beginning and the end of a stream of any length, in a constant amount of memory."""

    def __init__(self, head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._limits = (head, tail)
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        head, tail = self._limits
        room = head - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * tail:
            self._drop(len(self._tail) - tail)

    def content(self) -> bytes:
        """What was kept, with a line that says how much was not."""
        self._drop(max(0, len(self._tail) - self._limits[1]))
        gap = f"\n[… {self._dropped} bytes left out …]\n".encode() if self._dropped else b""
        return bytes(self._head) + gap + bytes(self._tail)

    def _drop(self, count: int) -> None:
        del self._tail[:count]
        self._dropped += count


@final
class _Listener(asyncio.SubprocessProtocol):
    def __init__(self) -> None:
        self.window = Window()
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()
        self.heard_at = 0.0

    @override
    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.window.feed(data)
        self.heard_at = asyncio.get_running_loop().time()

    @override
    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self.closed.set()

    @override
    def process_exited(self) -> None:
        self.exited.set()


async def run_command(
    argv: Sequence[str], folder: str, env: Mapping[str, str], time_limit: float, grace: float
) -> Ended:
    """Run it with an empty standard input in a session of its own, and end its process group at the latest with it.

    Raises:
        ValueError: no system could run this (it holds a NUL).
        OSError: the process could not be started.
    """
    loop = asyncio.get_running_loop()
    transport, listener = await loop.subprocess_exec(
        _Listener,
        *argv,
        cwd=folder,
        env=dict(env),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    pid = transport.get_pid()
    is_late = False
    try:
        try:
            async with asyncio.timeout(time_limit):
                await listener.exited.wait()
        except TimeoutError:
            is_late = True
            await _end_group(pid, listener, grace)
        await _drain(listener)
    finally:
        if not listener.exited.is_set():
            _signal_group(pid, KILL)
        transport.close()
    code = transport.get_returncode()
    return Ended(None if is_late or code is None else (code if code >= 0 else 128 - code), listener.window.content())


KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


def shell_argv(command: str) -> tuple[str, ...]:
    """What makes the system's shell run a command line."""
    if os.name == "nt":
        return ("cmd", "/d", "/s", "/c", command)
    return ("/bin/sh", "-c", command)


async def _end_group(pid: int, listener: _Listener, grace: float) -> None:
    _signal_group(pid, signal.SIGTERM)
    with suppress(TimeoutError):
        async with asyncio.timeout(grace):
            await listener.exited.wait()
    _signal_group(pid, KILL)
    await listener.exited.wait()


async def _drain(listener: _Listener) -> None:
    # A process left in the background holds the output open, so its end is not waited for: only for silence.
    loop = asyncio.get_running_loop()
    started = loop.time()
    while not listener.closed.is_set() and loop.time() - max(started, listener.heard_at) < _SILENCE:
        if loop.time() - started > 4 * _SILENCE:
            break
        with suppress(TimeoutError):
            async with asyncio.timeout(_SILENCE / 5):
                await listener.closed.wait()


def _signal_group(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(pid, number)
        else:
            os.kill(pid, number)
