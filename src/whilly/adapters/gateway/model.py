"""The gateway to a model's service. It alone has the key; the sandbox has a token that is worth nothing elsewhere."""

from __future__ import annotations

import asyncio
import hmac
import json
import ssl
from typing import TYPE_CHECKING, Any, final
from urllib.parse import urlsplit

import h11

from whilly.adapters.gateway.connection import CHUNK, Connection, Refused, Request
from whilly.adapters.gateway.dialect import (
    DIALECTS,
    KEY_HEADERS,
    Meter,
    clean_target,
    find_limit,
    find_token,
    lower_limit,
    place_key,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from whilly.adapters.gateway.budget import Budget, Reservation
    from whilly.domain.confinement import ModelAccess

CONNECT_S = 30.0
SILENCE_S = 900.0
_HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
)
_OURS = _HOP_BY_HOP | {"host", "content-length", "authorization", *KEY_HEADERS, "accept-encoding", "expect", "cookie"}
_FAILED = 400
_UNAVAILABLE = (OSError, TimeoutError, h11.RemoteProtocolError)


@final
class ModelGateway:
    """Passes requests on to one service.

    Args:
        access: the service, the key, the token.
        budget: what may be spent.
        changed: called whenever something was settled.
        exhausted: called once the money is gone and no request is on its way.
    """

    def __init__(
        self, access: ModelAccess, budget: Budget, changed: Callable[[], None], exhausted: Callable[[], None]
    ) -> None:
        self._access = access
        self._dialect = DIALECTS[access.api]
        self._budget = budget
        self._changed = changed
        self._exhausted = exhausted
        self._upstream = urlsplit(access.upstream)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection from inside, to its end."""
        connection = Connection(reader, writer)
        try:
            while (request := await connection.receive()) is not None:
                await self._answer(connection, request)
                if not connection.take_up():
                    break
        except Refused as refused:
            await connection.refuse(refused)
        except (OSError, TimeoutError, h11.LocalProtocolError):
            pass
        finally:
            await connection.close()
            if self._budget.is_over and self._budget.is_idle:
                self._exhausted()

    async def _answer(self, connection: Connection, request: Request) -> None:
        if not hmac.compare_digest(find_token(request).encode(), self._access.token.reveal().encode()):
            raise Refused(401, "this token is not the one of this run")
        path = urlsplit(request.target).path
        paid = self._dialect.paid.fullmatch(path)
        if request.method == "POST" and paid:
            await self._answer_paid(connection, request, paid.groupdict().get("model", ""))
        elif self._dialect.free.fullmatch(path) and request.method in {"GET", "HEAD", "POST"}:
            await self._forward(connection, request, request.body, None)
        else:
            raise Refused(403, f"{request.method} {path[:200]} is not open to agents")

    async def _answer_paid(self, connection: Connection, request: Request, model: str) -> None:
        body = _parse(request.body)
        path, wanted = find_limit(self._dialect, body)
        reservation = self._budget.reserve(model or str(body.get("model", "")), len(request.body), wanted)
        if reservation is None:
            raise Refused(402, "the budget of this attempt is used up")
        data = request.body
        if reservation.output < wanted:
            lower_limit(self._dialect, body, path, reservation.output)
            data = json.dumps(body, ensure_ascii=False).encode()
        await self._forward(connection, request, data, reservation)

    async def _forward(
        self, connection: Connection, request: Request, body: bytes, reservation: Reservation | None
    ) -> None:
        """Send a request on, and its answer back; whatever happens, the reservation is settled."""
        meter = Meter(self._dialect)
        passage = _Passage(connection, meter)
        try:
            reader, writer = await self._connect()
        except (OSError, TimeoutError) as error:
            if reservation:
                self._budget.release(reservation)
            raise Refused(502, f"the model's service cannot be reached: {type(error).__name__}") from error
        try:
            await passage.run(reader, writer, self._head(request, body), body)
        except _UNAVAILABLE as error:
            if not passage.has_begun:
                raise Refused(502, f"the model's service broke off: {type(error).__name__}") from error
            raise ConnectionError from error
        finally:
            writer.close()
            if reservation:
                self._settle(reservation, passage)

    def _settle(self, reservation: Reservation, passage: _Passage) -> None:
        if passage.status >= _FAILED or not passage.was_sent:
            self._budget.release(reservation)
        else:
            self._budget.settle(reservation, passage.usage())
        self._changed()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        is_secure = self._upstream.scheme == "https"
        context = ssl.create_default_context() if is_secure else None
        port = self._upstream.port or (443 if is_secure else 80)
        async with asyncio.timeout(CONNECT_S):
            return await asyncio.open_connection(self._upstream.hostname, port, ssl=context)

    def _head(self, request: Request, body: bytes) -> h11.Request:
        headers = [(name, value) for name, value in request.headers if name not in _OURS]
        headers.append(("host", self._upstream.netloc.rpartition("@")[2]))
        headers.append(place_key(request, self._access.key.reveal()))
        # Usage is read out of the answer, so it must not be packed.
        headers.append(("accept-encoding", "identity"))
        headers.append(("connection", "close"))
        if body or request.method == "POST":
            headers.append(("content-length", str(len(body))))
        target = self._upstream.path.rstrip("/") + clean_target(self._dialect, request.target)
        return h11.Request(method=request.method, target=target, headers=headers)


@final
class _Passage:
    """One request on its way, and its answer."""

    def __init__(self, connection: Connection, meter: Meter) -> None:
        self._connection = connection
        self._meter = meter
        self.status = 0
        self.was_sent = False
        self.has_begun = False
        self._is_whole = False

    def usage(self) -> Any:  # noqa: ANN401  (Usage or nothing, as the meter says)
        return self._meter.usage() if self._is_whole else None

    async def run(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: h11.Request, body: bytes
    ) -> None:
        http = h11.Connection(h11.CLIENT)
        writer.write(http.send(head) or b"")
        writer.write(http.send(h11.Data(data=body)) or b"")
        writer.write(http.send(h11.EndOfMessage()) or b"")
        self.was_sent = True
        await writer.drain()
        while True:
            event = http.next_event()
            if event is h11.NEED_DATA:
                async with asyncio.timeout(SILENCE_S):
                    http.receive_data(await reader.read(CHUNK))
            elif isinstance(event, h11.Response):
                self.status = event.status_code
                self.has_begun = True
                await self._connection.begin(event.status_code, _pass_headers(event))
            elif isinstance(event, h11.Data):
                self._meter.feed(bytes(event.data))
                await self._connection.write(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                self._is_whole = True
                await self._connection.finish()
                return
            elif isinstance(event, h11.ConnectionClosed):
                raise ConnectionError


def _parse(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError as error:
        raise Refused(400, "the request is no JSON") from error
    if not isinstance(value, dict):
        raise Refused(400, "the request is no JSON object")
    return value


def _pass_headers(event: h11.Response) -> Sequence[tuple[str, str]]:
    pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers]
    return [(name, value) for name, value in pairs if name not in _HOP_BY_HOP and name != "set-cookie"]
