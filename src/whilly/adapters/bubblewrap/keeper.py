"""Stays with one running sandbox: its output, its signals, its limits, its gateway."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import struct
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, final

from whilly.adapters.bubblewrap.order import MODEL_PORT
from whilly.adapters.bubblewrap.watch import measure_memory, measure_room
from whilly.transport.process.records import CONFINED_FILE, EGRESS_FILE, HELD_FILE, write_record

if TYPE_CHECKING:
    from whilly.adapters.bubblewrap.group import Group
    from whilly.adapters.bubblewrap.order import Order
    from whilly.adapters.gateway.budget import Budget

Server: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]]
_CHUNK = 2**16
_LOOK_S = 1.0
_ROOM_S = 5.0
_SHORT_S = 0.05
GONE_S = 10.0
"""In which all processes of a sandbox have ended once it has."""
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@final
class Keeper:
    """One sandbox from its start to its end.

    Args:
        pid: bubblewrap's.
        channel: to `boot`, until the process has started.
        pipes: where what the process writes comes from: its standard output, its standard error.
        group: its control group, where there is one.
    """

    def __init__(
        self, order: Order, pid: int, channel: socket.socket, pipes: tuple[int, int], group: Group | None
    ) -> None:
        self._order = order
        self._pid = pid
        self._channel = channel
        self._pipes = {pipes[0]: 1, pipes[1]: 2}
        self._group = group
        self._held = 0
        self._budget: Budget | None = None
        self._servers: list[asyncio.Server] = []
        self._cause = ""

    async def keep(self) -> int:
        """Stay until it has ended; its exit code."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._pass_on, number)
        ended = asyncio.Event()
        descriptor = os.pidfd_open(self._pid)
        loop.add_reader(descriptor, ended.set)
        pumps = [asyncio.ensure_future(self._pump(pipe, target)) for pipe, target in self._pipes.items()]
        beside = [asyncio.ensure_future(self._boot()), asyncio.ensure_future(self._watch())]
        await ended.wait()
        loop.remove_reader(descriptor)
        os.close(descriptor)
        code = _collect(self._pid)
        # The writers are gone with the sandbox, so both pipes come to their ends.
        await asyncio.gather(*pumps)
        if self._group is not None:
            await self._leave(self._group)
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        for server in self._servers:
            server.close()
        self._record()
        return code if code >= 0 else 128 - code

    def end(self, cause: str) -> None:
        """End it now, and leave word why."""
        self._cause = self._cause or cause
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        if self._group is not None:
            self._group.kill()

    async def _leave(self, group: Group) -> None:
        """See that nobody is left in the group, and take it away."""
        if group.has_run_out_of_memory():
            self._cause = self._cause or "memory"
        deadline = time.monotonic() + GONE_S
        while not group.remove() and time.monotonic() < deadline:
            group.kill()
            await asyncio.sleep(_SHORT_S)
        if left := group.members():
            self._write(2, f"\nprocesses of the sandbox are left after {GONE_S:.0f} s: {left}\n".encode())

    def _pass_on(self, number: int) -> None:
        with suppress(ProcessLookupError):
            # Before the process is there, there is nothing that could end in order.
            os.kill(self._held or self._pid, number if self._held else signal.SIGKILL)

    async def _boot(self) -> None:
        """Take the listeners over, serve them, and let the process start."""
        self._channel.settimeout(0)
        loop = asyncio.get_running_loop()
        heard = asyncio.Event()
        loop.add_reader(self._channel, heard.set)
        await heard.wait()
        loop.remove_reader(self._channel)
        data, ancillary, _flags, _address = self._channel.recvmsg(16, 4096)
        listeners: list[socket.socket] = []
        for _level, kind, content in ancillary:
            if kind == socket.SCM_RIGHTS:
                numbers = struct.unpack(f"{len(content) // 4}i", content)
                listeners += [socket.socket(fileno=number) for number in numbers]
            elif kind == socket.SCM_CREDENTIALS:
                # The kernel translates the sender's pid into ours.
                self._held = struct.unpack("3i", content[:12])[0]
        if not data:
            return
        for port, listener in zip(self._order.ports, listeners, strict=True):
            self._servers.append(await asyncio.start_server(self._find_server(port), sock=listener))
        if self._order.home:
            with suppress(OSError):
                write_record(str(Path(self._order.home, HELD_FILE)), f"{self._held}\n", is_durable=False)
        self._channel.send(b"g")
        self._channel.close()

    async def _pump(self, pipe: int, target: int) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=4 * _CHUNK)
        with open(pipe, "rb", buffering=0) as file:  # noqa: ASYNC230  (a pipe's descriptor)
            await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
            while data := await reader.read(_CHUNK):
                self._write(target, data)

    def _write(self, target: int, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(target, data) :]
        except OSError:
            self.end("disk")

    async def _watch(self) -> None:
        """Look at what it uses, the less often the longer a look takes."""
        limits = self._order.limits
        folders = [source for kind, source, _ in self._order.mounts if kind == "rw"]
        before = await asyncio.to_thread(_measure, folders) if limits.disk_mb else 0
        next_at = time.monotonic() + _ROOM_S
        is_limited = self._group is not None and "memory" in self._group.limits
        while True:
            await asyncio.sleep(_LOOK_S)
            if limits.memory_mb and not is_limited and measure_memory(self._pid) > limits.memory_mb * 2**20:
                self.end("memory")
            began = time.monotonic()
            if limits.disk_mb and began >= next_at:
                if await asyncio.to_thread(_measure, folders) - before > limits.disk_mb * 2**20:
                    self.end("disk")
                next_at = time.monotonic() + max(_ROOM_S, 20 * (time.monotonic() - began))

    def _find_server(self, port: int) -> Server:
        """What answers at a port of the sandbox. Its parts cost start-up time, so they are imported when needed."""
        if port == MODEL_PORT and self._order.gateway is not None:
            from whilly.adapters.gateway.budget import Budget  # noqa: PLC0415  (as said)
            from whilly.adapters.gateway.model import ModelGateway  # noqa: PLC0415  (as said)

            access = self._order.gateway.access()
            self._budget = Budget(access.budget_usd, access.prices)
            return ModelGateway(access, self._budget, self._record, lambda: self.end("over_budget")).serve
        from whilly.adapters.gateway.egress import Egress  # noqa: PLC0415  (as said)

        return Egress(self._order.hosts, self._note).serve

    def _note(self, line: str) -> None:
        """Write down what the proxy has decided."""
        if self._order.home:
            with suppress(OSError), Path(self._order.home, EGRESS_FILE).open("a", encoding="utf-8") as file:
                file.write(line.encode("unicode_escape").decode("ascii") + "\n")

    def _record(self) -> None:
        """Leave word of why it was ended and of what was measured; the latest is the whole truth."""
        usage = self._budget.usage if self._budget else None
        if not self._order.home or not (self._cause or usage):
            return
        fields: dict[str, object] = {"cause": self._cause} if self._cause else {}
        if usage is not None:
            cost = None if usage.cost_usd is None else f"{usage.cost_usd:f}"
            fields |= {**asdict(usage), "cost_usd": cost}
        with suppress(OSError):
            path = str(Path(self._order.home, CONFINED_FILE))
            write_record(path, json.dumps(fields), is_durable=False)


def _collect(pid: int) -> int:
    """The exit code of bubblewrap, which has ended, once the first process of its sandbox is gone, too."""
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with suppress(ChildProcessError):
        while True:
            os.wait()
    return code


def _measure(folders: list[str]) -> int:
    return sum(map(measure_room, folders))
