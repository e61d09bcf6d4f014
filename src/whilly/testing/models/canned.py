"""CannedServer: gives every request the same answer, also the kinds that a scripted model cannot give."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self, final

from typing_extensions import override

if TYPE_CHECKING:
    from datetime import datetime
    from types import TracebackType


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server says.

    Attributes:
        headers: beside `content-type` and `content-length`.
        body: sent as it is.
        stalls: after the body, the connection stays open and nothing more comes.
        is_silent: not even a status line is sent.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    stalls: bool = False
    is_silent: bool = False


SILENCE = Answer(is_silent=True)
"""The connection is accepted; nothing ever comes."""

STALL = Answer(
    headers={"content-type": "text/event-stream"},
    body="event: message_start\ndata: "
    + json.dumps(
        {
            "type": "message_start",
            "message": {
                "id": "msg_stall",
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-4-5",
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            },
        }
    )
    + "\n\n",
    stalls=True,
)
"""An answer of Anthropic's begins and stops in the middle of its stream."""


def limit_usage(resets_at: datetime, claim: str = "five_hour") -> Answer:
    """A subscription's usage limit, as Anthropic's headers say it; it shows with an OAuth token only."""
    reset = str(int(resets_at.timestamp()))
    prefix = "anthropic-ratelimit-unified"
    short = "5h" if claim == "five_hour" else "7d"
    return Answer(
        status=429,
        headers={
            f"{prefix}-status": "rejected",
            f"{prefix}-reset": reset,
            f"{prefix}-representative-claim": claim,
            f"{prefix}-{short}-status": "rejected",
            f"{prefix}-{short}-reset": reset,
            f"{prefix}-{short}-utilization": "1.0",
            "retry-after": "3600",
        },
        body=json.dumps({"type": "error", "error": {"type": "rate_limit_error", "message": "usage limit"}}),
    )


@final
class CannedServer:
    """A server on loopback for the time of a `with` block."""

    def __init__(self, answer: Answer) -> None:
        self.requests: list[str] = []
        """Method and path of every request so far."""
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _make_handler(answer, self.requests, self._closing))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

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
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        # Also waits for the threads of stalled connections, which the event has let go.
        self._server.server_close()


def _make_handler(answer: Answer, requests: list[str], closing: threading.Event) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        @override
        def log_message(self, format: str, *args: object) -> None:
            pass

        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            requests.append(f"{self.command} {self.path}")
            if answer.is_silent:
                closing.wait()
                return
            body = answer.body.encode()
            self.send_response(answer.status)
            headers = {"content-type": "application/json", **answer.headers}
            if not answer.stalls:
                headers["content-length"] = str(len(body))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()
            if answer.stalls:
                closing.wait()

        do_GET = do_POST = do_HEAD = _answer  # noqa: N815  (names that http.server looks for)

    return Handler
