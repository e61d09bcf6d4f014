"""The proxy out of a sandbox: CONNECT to hosts named exactly, at public addresses, with TLS for that very name."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, final

import h11

from whilly.adapters.gateway.connection import CHUNK, Connection, Refused, Request
from whilly.adapters.gateway.hello import MAX_HELLO, find_server_name

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

MAX_UPLOAD = 50 * 1024 * 1024
DIAL_S = 20.0
HELLO_S = 30.0
SILENCE_S = 900.0
_TLS_PORT = 443
_TRANSLATED = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
"""An IPv4 address of any kind may be behind these (RFC 6052, RFC 8215)."""


async def resolve(name: str, port: int) -> list[str]:
    """The addresses of a name."""
    found = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


def is_public(address: str) -> bool:
    """Whether an address is of the public network: no loopback, link-local, private or mapped one."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if any(found in network for network in _TRANSLATED):
        return False
    if isinstance(found, ipaddress.IPv6Address) and (inner := found.ipv4_mapped or found.sixtofour or found.teredo):
        return isinstance(inner, ipaddress.IPv4Address) and inner.is_global and not inner.is_multicast
    return found.is_global and not found.is_multicast


@final
class Egress:
    """A proxy for one sandbox.

    Args:
        hosts: `name` (port 443) or `name:port`; exact.
        tell: called with a line for each decision.
        find: resolves names.
        is_allowed: whether an address may be dialled.
    """

    def __init__(
        self,
        hosts: Iterable[str],
        tell: Callable[[str], None],
        find: Callable[[str, int], Awaitable[list[str]]] = resolve,
        is_allowed: Callable[[str], bool] = is_public,
    ) -> None:
        self._hosts = frozenset(_split(host) for host in hosts)
        self._tell = tell
        self._find = find
        self._is_allowed = is_allowed
        self._uploaded = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection from inside, to its end."""
        connection = Connection(reader, writer)
        try:
            request = await connection.receive()
            if request is not None:
                await self._connect(connection, request)
        except Refused as refused:
            self._tell(f"denied: {refused.reason}")
            with suppress(OSError, h11.LocalProtocolError):
                await connection.refuse(refused)
        except (OSError, TimeoutError, h11.LocalProtocolError):
            pass
        finally:
            await connection.close()

    async def _connect(self, connection: Connection, request: Request) -> None:
        if request.method != "CONNECT":
            raise Refused(405, f"{request.method} {request.target[:200]}: only CONNECT is open")
        host = _split(request.target.lower())
        shown = request.target[:200]
        if host not in self._hosts:
            raise Refused(403, f"{shown} is not on the list")
        address = await self._choose(*host)
        try:
            async with asyncio.timeout(DIAL_S):
                # The very address that was judged: a second look at the name could give another one.
                far = await asyncio.open_connection(address, host[1])
        except (OSError, TimeoutError) as error:
            raise Refused(502, f"{shown} cannot be reached") from error
        try:
            await connection.begin(200, [])
            await self._check_hello(connection, far[1], host[0])
            self._tell(f"allowed: {shown} at {address}")
            await self._splice(connection, *far)
        finally:
            far[1].close()

    async def _choose(self, name: str, port: int) -> str:
        try:
            async with asyncio.timeout(DIAL_S):
                addresses = await self._find(name, port)
        except (OSError, TimeoutError, UnicodeError) as error:
            raise Refused(502, f"{name} has no address") from error
        if not addresses or not all(map(self._is_allowed, addresses)):
            raise Refused(403, f"{name} leads to an address that is not public")
        return addresses[0]

    async def _check_hello(self, connection: Connection, far: asyncio.StreamWriter, name: str) -> None:
        """See that TLS is spoken, with the host whose name was allowed, and pass the first bytes on."""
        data = connection.trailing()
        wanted: str | None = None
        async with asyncio.timeout(HELLO_S):
            while wanted is None:
                try:
                    wanted = find_server_name(data)
                except ValueError as error:
                    message = f"{name}: {error}"
                    self._tell(f"denied: {message}")
                    raise ConnectionError(message) from error
                if wanted is None:
                    more = await connection.reader.read(CHUNK)
                    data += more
                    if not more or len(data) > MAX_HELLO:
                        raise ConnectionError
        if wanted != name:
            self._tell(f"denied: {name}: TLS asks for {wanted[:200] or 'no name'}")
            raise ConnectionError
        far.write(data)
        await far.drain()

    async def _splice(self, connection: Connection, reader: asyncio.StreamReader, far: asyncio.StreamWriter) -> None:
        up = asyncio.ensure_future(self._pump(connection.reader, far, is_upload=True))
        down = asyncio.ensure_future(self._pump(reader, connection.writer, is_upload=False))
        try:
            await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({down}, timeout=DIAL_S)
        finally:
            for task in (up, down):
                task.cancel()
            await asyncio.gather(up, down, return_exceptions=True)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_upload: bool) -> None:
        while True:
            async with asyncio.timeout(SILENCE_S):
                data = await reader.read(CHUNK)
            if not data:
                break
            if is_upload:
                self._uploaded += len(data)
                if self._uploaded > MAX_UPLOAD:
                    self._tell(f"denied: more than {MAX_UPLOAD} bytes were sent out")
                    raise ConnectionError
            writer.write(data)
            await writer.drain()
        with suppress(OSError, RuntimeError):
            writer.write_eof()


def _split(host: str) -> tuple[str, int]:
    name, _, port = host.partition(":")
    return name, int(port) if port.isascii() and port.isdigit() and len(port) < 6 else _TLS_PORT if not port else 0  # noqa: PLR2004  (ports have five digits)
