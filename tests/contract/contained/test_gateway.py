"""The gateway to a model and the proxy, attacked over real sockets."""

from __future__ import annotations

import asyncio
import json
import ssl
import struct
import sys
from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from whilly.adapters.bubblewrap.order import HOME
from whilly.adapters.gateway.budget import Budget
from whilly.adapters.gateway.egress import Egress, is_public
from whilly.adapters.gateway.hello import find_server_name
from whilly.adapters.gateway.model import ModelGateway
from whilly.domain.attempt import Usage
from whilly.domain.confinement import Confinement, ModelAccess
from whilly.domain.price import Price
from whilly.domain.secret import Secret
from whilly.domain.session import Launch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from whilly.adapters.bubblewrap.keeper import Server
    from whilly.adapters.bubblewrap.sandbox import BubblewrapSandbox

TOKEN = "run-" + "0" * 64
KEY = "the-real-key"
PRICES = {"m": Price(Decimal(1), Decimal(10))}
ANSWER: dict[str, Any] = {"type": "message", "usage": {"input_tokens": 1000, "output_tokens": 100}}
COST = Decimal("0.002")
"""Of ANSWER at PRICES."""


@dataclass
class Service:
    """A model's service that remembers what it was asked."""

    asked: list[tuple[str, Mapping[str, str], bytes]] = field(default_factory=list)
    answer: bytes = json.dumps(ANSWER).encode()
    status: str = "200 OK"
    kind: str = "application/json"
    gate: asyncio.Event | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = head.split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        self.asked.append((lines[0], headers, body))
        if self.gate:
            await self.gate.wait()
        text = f"HTTP/1.1 {self.status}\r\ncontent-type: {self.kind}\r\ncontent-length: {len(self.answer)}\r\n\r\n"
        writer.write(text.encode() + self.answer)
        await writer.drain()
        writer.close()


@dataclass
class Answer:
    status: int
    body: bytes


@asynccontextmanager
async def serving(serve: Server) -> AsyncIterator[int]:
    """The port at which it is served; at the end, after all connections have ended."""
    tasks: set[asyncio.Task[None]] = set()

    async def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.ensure_future(serve(reader, writer)))

    async with await asyncio.start_server(begin, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]
    if tasks:
        _done, left = await asyncio.wait(tasks, timeout=30)
        assert not left


class Bench:
    """A gateway before a service."""

    def __init__(self, service: Service, limit: Decimal | None, api: str = "anthropic") -> None:
        self.service = service
        self.budget = Budget(limit, PRICES)
        self.api = api
        self.settled = 0
        self.ended = asyncio.Event()
        self.port = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Bench]:
        far = await asyncio.start_server(self.service.serve, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{far.sockets[0].getsockname()[1]}/base"
        access = ModelAccess(self.api, url, Secret(KEY), Secret(TOKEN))
        gateway = ModelGateway(access, self.budget, self._changed, self.ended.set)
        async with far, serving(gateway.serve) as self.port:
            yield self

    def _changed(self) -> None:
        self.settled += 1

    async def raw(self, text: bytes) -> Answer:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(text)
        writer.write_eof()
        data = await asyncio.wait_for(reader.read(), 30)
        writer.close()
        head, _, body = data.partition(b"\r\n\r\n")
        return Answer(int(head.split(b" ")[1]), body)

    async def ask(self, path: str = "/v1/messages", token: str = TOKEN, method: str = "POST", **body: object) -> Answer:
        data = json.dumps({"model": "m", "max_tokens": 100, **body}).encode()
        head = f"{method} {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {token}\r\ncontent-length: {len(data)}\r\n"
        return await self.raw(f"{head}connection: close\r\n\r\n".encode() + data)


async def test_only_the_service_gets_the_key_and_only_the_key() -> None:
    async with Bench(Service(), None).open() as bench:
        answer = await bench.ask("/v1/messages?beta=true")
        assert (answer.status, json.loads(answer.body)) == (200, ANSWER)
        ((line, headers, _body),) = bench.service.asked
        assert line == "POST /base/v1/messages?beta=true HTTP/1.1"
        assert headers["x-api-key"] == KEY
        assert TOKEN not in str(headers)
        assert bench.budget.usage == Usage(COST, 1000, 100, turns=1)


@pytest.mark.parametrize("token", ["", "run-", TOKEN[:-1], TOKEN + "0", TOKEN.upper(), KEY, "\u00e9"])
async def test_another_token_is_refused(token: str) -> None:
    async with Bench(Service(), None).open() as bench:
        assert (await bench.ask(token=token)).status == 401
        assert bench.service.asked == []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/messages"),
        ("POST", "/v1/messages/batches"),
        ("POST", "/v1/files"),
        ("POST", "/v1/messages/../files"),
        ("POST", "//v1/messages"),
        ("GET", "/v1/organizations/api_keys"),
        ("DELETE", "/v1/models"),
        ("POST", "http://elsewhere.example/v1/messages/"),
        ("POST", "/v1/chat/completions"),
    ],
)
async def test_another_path_is_refused(method: str, path: str) -> None:
    async with Bench(Service(), None).open() as bench:
        assert (await bench.ask(path, method=method)).status == 403
        assert bench.service.asked == []


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET /v1/models HTTP/1.1\r\n\r\n", 400),
        (
            b"POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: %s\r\ncontent-length: 2\r\n\r\n[]" % TOKEN.encode(),
            400,
        ),
        (b"POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: %s\r\ncontent-length: 1\r\n\r\n{" % TOKEN.encode(), 400),
        (b"GET /" + b"a" * 300_000 + b" HTTP/1.1\r\nhost: x\r\n\r\n", 431),
        (b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab", 400),
        (b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: x\r\n\r\nabcde", 501),
    ],
)
async def test_what_is_no_request_is_refused(text: bytes, status: int) -> None:
    async with Bench(Service(), None).open() as bench:
        assert (await bench.raw(text)).status == status
        assert bench.service.asked == []


async def test_a_body_is_read_within_bounds() -> None:
    async with Bench(Service(), None).open() as bench:
        reader, writer = await asyncio.open_connection("127.0.0.1", bench.port)
        writer.write(b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
        chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
        writer.write(chunk * 33)
        assert (await reader.readuntil(b"\r\n")).split(b" ")[1] == b"413"
        writer.close()
        assert bench.service.asked == []


async def test_a_service_that_is_not_there_costs_nothing() -> None:
    bench = Bench(Service(), Decimal(1))
    access = ModelAccess("anthropic", "http://127.0.0.1:1", Secret(KEY), Secret(TOKEN))
    gateway = ModelGateway(access, bench.budget, lambda: None, bench.ended.set)
    async with serving(gateway.serve) as bench.port:
        assert (await bench.ask()).status == 502
    assert (bench.budget.spent, bench.budget.is_idle) == (Decimal(0), True)


async def test_an_error_of_the_service_passes_through_and_costs_nothing() -> None:
    async with Bench(Service(status="429 Too Many Requests", answer=b"later"), Decimal(1)).open() as bench:
        answer = await bench.ask()
        assert (answer.status, answer.body) == (429, b"later")
        assert (bench.budget.spent, bench.budget.is_idle) == (Decimal(0), True)


async def test_a_stream_is_measured() -> None:
    events = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 1000, "output_tokens": 1}}},
        {"type": "content_block_delta", "delta": {"text": 'a "usage": {"output_tokens": 9999}'}},
        {"type": "message_delta", "usage": {"output_tokens": 100, "cache_read_input_tokens": 10}},
    ]
    text = "".join(f"event: x\ndata: {json.dumps(event)}\n\n" for event in events).encode()
    async with Bench(Service(answer=text, kind="text/event-stream"), None).open() as bench:
        assert (await bench.ask(stream=True)).body == text
        assert bench.budget.usage == Usage(COST + Decimal("0.00001"), 1000, 100, 10, turns=1)


async def test_an_answer_without_usage_costs_what_was_reserved() -> None:
    async with Bench(Service(answer=b'{"type": "message"}'), Decimal(1)).open() as bench:
        await bench.ask()
        assert bench.budget.spent >= Decimal("0.001")


async def test_openai_is_measured_with_its_cached_tokens_apart() -> None:
    usage = {"input_tokens": 1000, "output_tokens": 100, "input_tokens_details": {"cached_tokens": 400}}
    text = f"data: {json.dumps({'type': 'response.completed', 'response': {'usage': usage}})}\n\n".encode()
    async with Bench(Service(answer=text), None, "openai").open() as bench:
        data = b'{"model": "m"}'
        head = f"POST /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\n"
        assert (await bench.raw(f"{head}content-length: {len(data)}\r\n\r\n".encode() + data)).status == 200
        assert bench.service.asked[0][1]["authorization"] == f"Bearer {KEY}"
        assert bench.budget.usage is not None
        assert bench.budget.usage.tokens == (600, 100, 400, 0)


GOOGLE = {
    "promptTokenCount": 1000,
    "cachedContentTokenCount": 400,
    "candidatesTokenCount": 60,
    "thoughtsTokenCount": 40,
}
GOOGLE_PATH = "/v1beta/models/m:streamGenerateContent"


@pytest.mark.parametrize("is_list", [False, True], ids=["events", "list"])
async def test_google_is_measured_and_priced_by_the_model_in_its_path(*, is_list: bool) -> None:
    early, last = {"usageMetadata": {**GOOGLE, "candidatesTokenCount": 1}}, {"usageMetadata": GOOGLE}
    texts = json.dumps([early, last]), f"data: {json.dumps(early)}\r\n\r\ndata: {json.dumps(last)}\r\n\r\n"
    async with Bench(Service(answer=texts[not is_list].encode()), None, "google").open() as bench:
        head = f"POST {GOOGLE_PATH}?alt=sse&key=another HTTP/1.1\r\nhost: x\r\nx-goog-api-key: {TOKEN}\r\n"
        text = f"{head}connection: close\r\ncontent-length: 2\r\n\r\n{{}}"
        assert (await bench.raw(text.encode())).status == 200
        ((line, headers, _body),) = bench.service.asked
        assert line == f"POST /base{GOOGLE_PATH}?alt=sse HTTP/1.1"
        assert headers["x-goog-api-key"] == KEY
        assert bench.budget.usage == Usage(Decimal("0.0016") + Decimal("0.0004"), 600, 100, 400, turns=1)


async def test_the_last_of_the_money_buys_a_shorter_answer_of_google() -> None:
    async with Bench(Service(), Decimal("0.02"), "google").open() as bench:
        wanted = {"maxOutputTokens": 60_000, "thinkingConfig": {"thinkingBudget": 30_000}}
        await bench.ask(GOOGLE_PATH, generationConfig=wanted)
        config = json.loads(bench.service.asked[0][2])["generationConfig"]
        assert 1024 <= config["maxOutputTokens"] < 2001
        assert config["thinkingConfig"]["thinkingBudget"] <= config["maxOutputTokens"]


@pytest.mark.parametrize(
    "path",
    [
        "/v1beta/models/m:batchGenerateContent",
        "/v1beta/models/a/b:generateContent",
        "/v1beta/files",
        "/upload/v1beta/files",
        "/v1beta/cachedContents",
        "/v1/messages",
    ],
)
async def test_another_path_of_google_is_refused(path: str) -> None:
    async with Bench(Service(), None, "google").open() as bench:
        assert (await bench.ask(path)).status == 403
        assert bench.service.asked == []


async def test_after_the_budget_there_is_nothing_and_the_end() -> None:
    async with Bench(Service(), Decimal("0.003")).open() as bench:
        assert (await bench.ask()).status == 200
        assert not bench.ended.is_set()
        assert (await bench.ask(max_tokens=5000)).status == 402
        await asyncio.wait_for(bench.ended.wait(), 10)
        assert len(bench.service.asked) == 1
        assert bench.budget.spent == COST


async def test_the_last_of_the_money_buys_a_shorter_answer() -> None:
    async with Bench(Service(), Decimal("0.02")).open() as bench:
        assert (
            await bench.ask(max_tokens=100_000, thinking={"type": "enabled", "budget_tokens": 50_000})
        ).status == 200
        body = json.loads(bench.service.asked[0][2])
        assert 1024 <= body["max_tokens"] < 2001
        assert body["thinking"]["budget_tokens"] <= body["max_tokens"]


async def test_twenty_calls_at_once_at_99_percent_do_not_spend_more_than_there_is() -> None:
    limit = Decimal("0.2")
    service = Service()
    async with Bench(service, limit).open() as bench:
        while bench.budget.spent < limit * Decimal("0.95"):
            assert (await bench.ask()).status == 200
        before = len(service.asked)
        service.gate = asyncio.Event()
        calls = [asyncio.ensure_future(bench.ask(max_tokens=100)) for _ in range(20)]
        _done, waiting = await asyncio.wait(calls, timeout=1)
        assert len(waiting) == len(service.asked) - before
        service.gate.set()
        answers = await asyncio.gather(*calls)
        assert {answer.status for answer in answers} == {200, 402}
        await asyncio.wait_for(bench.ended.wait(), 10)
        assert bench.budget.spent <= limit


async def test_a_model_without_a_price_counts_as_the_dearest_and_its_cost_is_unknown() -> None:
    async with Bench(Service(), Decimal(1)).open() as bench:
        await bench.ask(model="unheard-of")
        assert bench.budget.spent == COST
        assert bench.budget.usage == Usage(None, 1000, 100, turns=1)


# The proxy.


def hello(name: str) -> bytes:
    """A real ClientHello for this name."""
    context = ssl.create_default_context()
    inward, outward = ssl.MemoryBIO(), ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(inward, outward, server_hostname=name).do_handshake()
    return outward.read()


def test_the_name_is_read_out_of_a_real_hello() -> None:
    data = hello("good.test")
    assert find_server_name(data) == "good.test"
    assert all(find_server_name(data[:length]) is None for length in range(len(data)))


@pytest.mark.parametrize(
    "data", [b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x00\x05\x02\x00\x00\x00\x00", b"\x16\x03\x01\x00\x02\x01\x00"]
)
def test_what_is_no_hello_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="no "):
        find_server_name(data)


def test_a_hello_without_a_name_has_none() -> None:
    body = struct.pack("!H", 0x0303) + bytes(32) + b"\0" + b"\0\2\x13\1" + b"\1\0" + b"\0\0"
    data = b"\1" + len(body).to_bytes(3, "big") + body
    assert find_server_name(b"\x16\3\1" + struct.pack("!H", len(data)) + data) == ""


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "169.254.169.254", "10.0.0.1", "192.168.1.1", "172.16.0.1", "100.64.0.1", "224.0.0.1",
        "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
        "2002:7f00:1::", "64:ff9b:1::1",
        "2001:db8::1",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


def test_addresses_that_are_public() -> None:
    assert is_public("93.184.216.34")
    assert is_public("2606:2800:220:1:248:1893:25c8:1946")


class Proxy:
    """A proxy whose names all lead to a service on the loopback."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = list(addresses)
        self.told: list[str] = []
        self.got = b""
        self.port = 0
        self.far_port = 0

    @asynccontextmanager
    async def open(self, *hosts: str, is_strict: bool = False) -> AsyncIterator[Proxy]:
        async def find(_name: str, _port: int) -> list[str]:
            return self.addresses

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.got = await reader.read(65536)
            writer.write(b"answer")
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(answer, "127.0.0.1", 0) as far:
            self.far_port = far.sockets[0].getsockname()[1]
            listed = [host.replace("PORT", str(self.far_port)) for host in hosts]
            egress = Egress(listed, self.told.append, find, is_public if is_strict else (lambda _address: True))
            async with serving(egress.serve) as self.port:
                yield self

    async def ask(self, text: str, then: bytes = b"") -> tuple[int, bytes]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(text.replace("PORT", str(self.far_port)).encode("latin-1"))
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
        status = int(head.split(b" ")[1])
        rest = b""
        if status == 200:
            writer.write(then)
            rest = await asyncio.wait_for(reader.read(), 30)
        writer.close()
        return status, rest


async def test_a_named_host_is_reached_with_tls_for_its_name() -> None:
    async with Proxy("127.0.0.1").open("good.test:PORT") as proxy:
        sent = hello("good.test")
        assert await proxy.ask("CONNECT good.test:PORT HTTP/1.1\r\nhost: x\r\n\r\n", sent) == (200, b"answer")
        assert proxy.got == sent
        assert proxy.told[0].startswith("allowed: good.test:")


@pytest.mark.parametrize(
    "text",
    [
        "CONNECT evil.test:PORT HTTP/1.1\r\nhost: x\r\n\r\n",
        "CONNECT good.test.evil.test:PORT HTTP/1.1\r\nhost: x\r\n\r\n",
        "CONNECT evilgood.test:PORT HTTP/1.1\r\nhost: x\r\n\r\n",
        "CONNECT good.test:22 HTTP/1.1\r\nhost: x\r\n\r\n",
        "CONNECT good.test HTTP/1.1\r\nhost: x\r\n\r\n",
        "CONNECT 127.0.0.1:PORT HTTP/1.1\r\nhost: x\r\n\r\n",
        "CONNECT 2130706433:PORT HTTP/1.1\r\nhost: x\r\n\r\n",
        "CONNECT [::1]:PORT HTTP/1.1\r\nhost: x\r\n\r\n",
        "CONNECT 169.254.169.254:80 HTTP/1.1\r\nhost: x\r\n\r\n",
        "CONNECT good.test:PORT@evil.test:80 HTTP/1.1\r\nhost: x\r\n\r\n",
        "CONNECT good.test:PORT:1 HTTP/1.1\r\nhost: x\r\n\r\n",
        "CONNECT good.test.:PORT HTTP/1.1\r\nhost: x\r\n\r\n",
    ],
)
async def test_any_other_target_is_denied_and_written_down(text: str) -> None:
    async with Proxy("127.0.0.1").open("good.test:PORT") as proxy:
        status, _ = await proxy.ask(text)
        assert status == 403
        assert [line.split(":")[0] for line in proxy.told] == ["denied"]


@pytest.mark.parametrize(
    "text", ["GET http://good.test/ HTTP/1.1\r\nhost: good.test\r\n\r\n", "POST / HTTP/1.1\r\nhost: x\r\n\r\n"]
)
async def test_only_connect_is_open(text: str) -> None:
    async with Proxy("127.0.0.1").open("good.test:PORT") as proxy:
        assert (await proxy.ask(text))[0] == 405


async def test_a_nul_in_the_name_is_no_request() -> None:
    async with Proxy("127.0.0.1").open("good.test:PORT") as proxy:
        assert (await proxy.ask("CONNECT good.test\0.evil:443 HTTP/1.1\r\nhost: x\r\n\r\n"))[0] == 400


@pytest.mark.parametrize("addresses", [("127.0.0.1",), ("93.184.216.34", "10.0.0.1"), ("::ffff:169.254.169.254",), ()])
async def test_a_name_that_leads_inwards_is_denied(addresses: tuple[str, ...]) -> None:
    async with Proxy(*addresses).open("good.test:PORT", is_strict=True) as proxy:
        assert (await proxy.ask("CONNECT good.test:PORT HTTP/1.1\r\nhost: x\r\n\r\n"))[0] == 403
        assert proxy.got == b""


@pytest.mark.parametrize("kind", ["other name", "no tls"])
async def test_what_follows_has_to_be_tls_for_that_name(kind: str) -> None:
    sent = hello("evil.test") if kind == "other name" else b"SSH-2.0-x\r\n"
    async with Proxy("127.0.0.1").open("good.test:PORT") as proxy:
        assert await proxy.ask("CONNECT good.test:PORT HTTP/1.1\r\nhost: x\r\n\r\n", sent) == (200, b"")
        assert proxy.got == b""
        assert proxy.told[-1].startswith("denied: good.test: ")


# Both, from inside a sandbox.

INSIDE = """
import json, os, socket, sys, urllib.request, urllib.error
found = {}
def ask(name, act):
    try:
        found[name] = str(act())
    except Exception as error:
        found[name] = f"{type(error).__name__}: {error}"
def call(token):
    data = json.dumps({"model": "m", "max_tokens": 10}).encode()
    request = urllib.request.Request("http://127.0.0.1:8787/v1/messages", data, {"x-api-key": token})
    return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20).status
def tunnel(target):
    with socket.create_connection(("127.0.0.1", 3128), 20) as one:
        one.sendall(f"CONNECT {target} HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n".encode())
        return one.recv(100).split(b" ")[1].decode()
ask("call", lambda: call(os.environ["KEY"]))
ask("wrong", lambda: call("run-wrong"))
ask("metadata", lambda: tunnel("169.254.169.254:80"))
ask("unlisted", lambda: tunnel("evil.test:443"))
ask("inwards", lambda: tunnel("localhost:443"))
ask("dns", lambda: socket.getaddrinfo("example.org", 443))
ask("direct", lambda: socket.create_connection(("93.184.216.34", 443), 5))
ask("proxy", lambda: os.environ["HTTPS_PROXY"] + " " + os.environ["NO_PROXY"])
print(json.dumps(found))
"""


async def test_from_inside_there_is_no_other_way_out(sandbox: BubblewrapSandbox, tmp_path: Path) -> None:
    tree, home = tmp_path / "tree", tmp_path / "home"
    tree.mkdir()
    home.mkdir()
    service = Service()
    async with await asyncio.start_server(service.serve, "127.0.0.1", 0) as far:
        url = f"http://127.0.0.1:{far.sockets[0].getsockname()[1]}"
        access = ModelAccess("anthropic", url, Secret(KEY), Secret(TOKEN), Decimal(1), PRICES)
        reach = Confinement(str(home), writable=(str(tree),), hosts=("localhost",), model=access)
        launch = Launch(
            (sys.executable, "-I", "-c", INSIDE), cwd=str(tree), env={"PATH": "/usr/bin:/bin", "KEY": TOKEN}
        )
        held = sandbox.contain(launch, reach)
        assert KEY not in str(held.argv)
        process = await asyncio.create_subprocess_exec(
            *held.argv, env=dict(held.env), stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await asyncio.wait_for(process.communicate(), 90)
    found = json.loads(out)
    assert (found["call"], found["wrong"]) == ("200", "HTTPError: HTTP Error 401: ")
    assert (found["metadata"], found["unlisted"], found["inwards"]) == ("403", "403", "403")
    assert found["dns"].startswith("gaierror")
    assert found["direct"].startswith("OSError")
    assert found["proxy"] == "http://127.0.0.1:3128 127.0.0.1,localhost,::1"
    assert [headers["x-api-key"] for _, headers, _ in service.asked] == [KEY]
    measured = json.loads((home / "confined.json").read_text())
    assert Decimal(measured["cost_usd"]) == COST
    assert (home / "egress.log").read_text().count("denied: ") == 3
    assert HOME == "/home/agent"
