"""One HTTP/1.1 connection from inside a sandbox: requests read within bounds, answers written, oddities refused."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import final

import h11

HEAD_S = 60.0
BODY_S = 300.0
LINGER_S = 2.0
MAX_HEAD = 64 * 1024
MAX_BODY = 32 * 1024 * 1024
CHUNK = 64 * 1024


class Refused(Exception):
    """The request gets this answer instead of what it asked for."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Request:
    """A whole request.

    Attributes:
        target: as it was sent: a path with its query, or `host:port` of a CONNECT.
        headers: names in lower case.
    """

    method: str
    target: str
    headers: Sequence[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str:
        """The first header of this name; empty when there is none."""
        return next((value for key, value in self.headers if key == name), "")


@final
class Connection:
    """The server's side of a connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)

    async def receive(self) -> Request | None:
        """The next request; None when there is none.

        Raises:
            Refused: it is no HTTP, or too large.
            TimeoutError: it does not come to an end.
        """
        async with asyncio.timeout(HEAD_S):
            head = await self._event()
        if not isinstance(head, h11.Request):
            return None
        async with asyncio.timeout(BODY_S):
            body = await self._body()
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers)
        return Request(head.method.decode(), head.target.decode("latin-1"), headers, body)

    async def refuse(self, refused: Refused) -> None:
        """Answer with a status and a reason."""
        text = f"{refused.reason}\n".encode()
        headers = [("content-type", "text/plain"), ("content-length", str(len(text))), ("connection", "close")]
        if self._http.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            await self.begin(refused.status, headers)
            await self.write(text)
            await self.finish()

    async def begin(self, status: int, headers: Sequence[tuple[str, str]]) -> None:
        """Send the head of an answer."""
        await self._send(h11.Response(status_code=status, headers=list(headers)))

    async def write(self, data: bytes) -> None:
        """Send a part of its body."""
        await self._send(h11.Data(data=data))

    async def finish(self) -> None:
        """End it."""
        await self._send(h11.EndOfMessage())

    def take_up(self) -> bool:
        """Whether another request may come on this connection."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    def trailing(self) -> bytes:
        """What came after a CONNECT already."""
        return self._http.trailing_data[0]

    async def close(self) -> None:
        """Close it, in such a way that an answer is read by whoever is still sending."""
        with suppress(OSError, TimeoutError, RuntimeError):
            if self._http.our_state is h11.MUST_CLOSE and self._http.their_state is not h11.DONE:
                self.writer.write_eof()
                async with asyncio.timeout(LINGER_S):
                    while await self.reader.read(CHUNK):
                        pass
        self.writer.close()
        with suppress(OSError):
            await self.writer.wait_closed()

    async def _event(self) -> object:
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                raise Refused(error.error_status_hint, f"this is no request: {error}") from error
            if event is not h11.NEED_DATA:
                return event
            self._http.receive_data(await self.reader.read(CHUNK))

    async def _body(self) -> bytes:
        body = bytearray()
        while isinstance(event := await self._event(), h11.Data):
            body += event.data
            if len(body) > MAX_BODY:
                raise Refused(413, f"more than {MAX_BODY} bytes")
        return bytes(body)

    async def _send(self, event: h11.Event) -> None:
        data = self._http.send(event)
        if data:
            self.writer.write(data)
            await self.writer.drain()
