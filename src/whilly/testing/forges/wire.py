"""A server on loopback that routes requests to functions, and lets faults happen on the way."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, ClassVar, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from typing_extensions import override

from whilly.testing.forges.faults import Fault, Kind

if TYPE_CHECKING:
    from types import TracebackType

Json = Any
"""What JSON can hold."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request.

    Attributes:
        path: without the query, percent signs decoded.
        query: the last value of each parameter.
        data: the body as JSON; an empty object when it is none.
        args: what the route's pattern found in the path.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    data: Json
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer; `data` is sent as JSON unless `raw` is given."""

    status: int = 200
    data: Json = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None


class Refused(Exception):
    """Ends the handling of a request with this reply."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


Handle = Callable[[Call], Reply]
Route = tuple[str, str, Handle]
"""Method, pattern of the whole path, function."""


class WireServer:
    """A server for the time of a `with` block; requests are handled one at a time.

    Args:
        routes: the first one that fits is taken.
        missing: what answers a path that none fits.
    """

    def __init__(self, routes: Sequence[Route], missing: Handle) -> None:
        self.requests: list[str] = []
        """Method and path of every request so far."""
        self.faults: list[Fault] = []
        self._routes = [(method, re.compile(pattern), handle) for method, pattern, handle in routes]
        self._missing = missing
        self._lock = threading.RLock()
        self.closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"wire": self}))
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def count(self, method: str, pattern: str) -> int:
        """How many requests of this kind there were."""
        return sum(re.fullmatch(rf"{method} {pattern}", request) is not None for request in self.requests)

    def answer(self, call: Call) -> tuple[Reply, Kind | None]:
        """The reply, and the fault that is to happen to it."""
        with self._lock:
            self.requests.append(f"{call.method} {call.path}")
            fault = next((each for each in self.faults if each.fits(call.method, call.path)), None)
            if fault is None:
                return self._handle(call), None
            fault.times -= 1
            instead = Reply(fault.status, headers=fault.headers, raw=fault.body.encode())
            if fault.kind in {Kind.REPLACED, Kind.STALLED}:
                return instead, fault.kind
            reply = self._handle(call)
            if fault.kind is Kind.DOUBLED:
                self._handle(call)
            return _disguise(reply, instead, fault.kind), fault.kind

    def _handle(self, call: Call) -> Reply:
        for method, pattern, handle in self._routes:
            found = pattern.fullmatch(call.path)
            if found and method in {call.method, "*"}:
                args = tuple(unquote(group or "") for group in found.groups())
                try:
                    return handle(Call(call.method, call.path, call.query, call.headers, call.body, call.data, args))
                except Refused as refused:
                    return refused.reply
        return self._missing(call)


def _disguise(reply: Reply, instead: Reply, kind: Kind) -> Reply:
    """What comes in the place of a reply."""
    is_object = isinstance(reply.data, dict)
    if kind is Kind.MASKED:
        return instead
    if kind is Kind.MISSHAPEN:
        return replace(reply, data=[] if is_object else {})
    return replace(reply, data={}) if kind is Kind.EMPTIED and is_object else reply


class _Handler(BaseHTTPRequestHandler):
    wire: ClassVar[WireServer]
    protocol_version = "HTTP/1.1"

    @override
    def log_message(self, format: str, *args: object) -> None:
        pass

    def _answer(self) -> None:
        reply, kind = self.wire.answer(self._read())
        if kind is Kind.STALLED:
            self.wire.closing.wait()
        if kind in {Kind.LOST, Kind.STALLED}:
            self.close_connection = True
            return
        body = reply.raw if reply.raw is not None else b"" if reply.data is None else json.dumps(reply.data).encode()
        if kind is Kind.CUT:
            body = body[: len(body) // 2]
        self.send_response(reply.status)
        for name, value in {"content-type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        # One connection a request: a client never meets one that was closed in the meantime.
        self.send_header("connection", "close")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.close_connection = True

    def _read(self) -> Call:
        body = self._read_body()
        parts = urlsplit(self.path)
        try:
            data = json.loads(body) if body else {}
        except ValueError:
            data = {}
        headers = {name.lower(): value for name, value in self.headers.items()}
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        return Call(self.command, parts.path, query, headers, body, data)

    def _read_body(self) -> bytes:
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _answer  # noqa: N815  (names that http.server looks for)
