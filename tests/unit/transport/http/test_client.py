"""The shared line, against a real server that misbehaves; time passes only on the manual clock."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.memory.clock import ManualClock
from whilly.domain.errors import BadResponse, NotAuthorized, NotFound, RateLimited, Unavailable, WhillyError
from whilly.testing.forges.faults import HTML_502, Fault, Kind
from whilly.testing.forges.wire import Call, Reply, WireServer
from whilly.transport.http.client import HttpClient, Patience
from whilly.transport.http.refusal import Peer, Unanswered
from whilly.transport.http.request import Request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

TOKEN = "tok-0123456789abcdef"  # noqa: S105  (not a secret)


class Bench:
    """A server, and a client whose waits are written down."""

    def __init__(self, server: WireServer) -> None:
        self.server = server
        self.clock = ManualClock()
        self.waits: list[float] = []
        self.seen: list[Call] = []
        self.told: list[tuple[str, float]] = []

    @asynccontextmanager
    async def client(self, path: str = "", **changes: float) -> AsyncIterator[HttpClient]:
        async with HttpClient(
            self.server.url + path,
            {"authorization": f"token {TOKEN}"},
            Peer("Test (local)", "set forges.test.token"),
            clock=self.clock,
            secrets=[TOKEN],
            sleep=self._sleep,
            tell=lambda who, until: self.told.append((who, (until - self.clock.now()).total_seconds())),
            patience=Patience(**changes),  # type: ignore[arg-type]  # (numbers)
        ) as client:
            yield client

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.clock.advance(timedelta(seconds=seconds))

    def fail(self, status: int, times: int = 1, kind: Kind = Kind.REPLACED, **more: object) -> None:
        method = str(more.pop("method", "GET"))
        self.server.faults.append(Fault(kind, method, times=times, status=status, **more))  # type: ignore[arg-type]  # (by name)


@pytest.fixture
def bench() -> Iterator[Bench]:
    def echo(call: Call) -> Reply:
        found.seen.append(call)
        return Reply(data={"ok": True, "query": dict(call.query)})

    def number(call: Call) -> Reply:
        page = int(call.query.get("page", "1"))
        more = {"link": f'<https://public.example/x/list?page={page + 1}&limit=100>; rel="next"'} if page < 3 else {}
        return Reply(data=[{"n": page}], headers=more)

    def leave(call: Call) -> Reply:
        target = "/thing?a=1" if call.path == "/moved" else f"http://localhost:{server.url.rpartition(':')[2]}/thing"
        return Reply(int(call.query.get("status", "301")), headers={"location": target}, raw=b"")

    routes = [("*", "/thing", echo), ("GET", "/list", number), ("*", "/moved|/away", leave)]
    with WireServer(routes, lambda _: Reply(404, {"message": "Not Found"})) as server:
        found = Bench(server)
        yield found


async def test_what_passes_is_tried_again_with_growing_pauses(bench: Bench) -> None:
    bench.fail(502, 3, body=HTML_502)
    async with bench.client() as client:
        assert (await client.get("/thing")).status == 200
        assert client.calls == 4
    assert bench.waits == [1.0, 2.0, 4.0]


async def test_an_outage_ends_with_the_servers_words_and_without_the_token(bench: Bench) -> None:
    bench.fail(502, 99, body=HTML_502.replace("nginx", TOKEN).replace("502 Bad", f"{TOKEN} Bad"))
    async with bench.client() as client:
        with pytest.raises(Unavailable) as caught:
            await client.get("/thing")
    assert "an HTML page" in str(caught.value)
    assert TOKEN not in str(caught.value)
    assert TOKEN not in repr(caught.value)


async def test_it_ends_in_time(bench: Bench) -> None:
    bench.fail(503, 99)
    async with bench.client(total_s=10, tries=99) as client:
        with pytest.raises(Unavailable):
            await client.get("/thing")
    assert sum(bench.waits) <= 10


@pytest.mark.parametrize("kind", [Kind.LOST, Kind.CUT])
async def test_a_lost_answer_is_asked_for_again_if_that_is_harmless(bench: Bench, kind: Kind) -> None:
    bench.fail(200, kind=kind)
    async with bench.client() as client:
        assert (await client.get("/thing")).status == 200
        bench.fail(200, kind=kind, method="POST")
        with pytest.raises(Unanswered):
            await client.write("POST", "/thing", {})
    assert [call.method for call in bench.seen] == ["GET", "GET", "POST"]


async def test_what_was_not_done_for_a_limit_is_sent_again_whatever_it_is(bench: Bench) -> None:
    bench.fail(429, 1, method="POST", headers={"retry-after": "7"})
    async with bench.client() as client:
        await client.write("POST", "/thing", {"a": 1})
    assert bench.waits == [7.0]
    assert [call.data for call in bench.seen] == [{"a": 1}]


@pytest.mark.parametrize(
    ("status", "headers", "body", "wait"),
    [
        (429, {"retry-after": "Thu, 01 Jan 2026 00:00:30 GMT"}, "", 30.0),
        (429, {}, "", 60.0),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1767225640"}, "", 41.0),
        (403, {}, '{"message": "You have exceeded a secondary rate limit"}', 60.0),
        (403, {"retry-after": "3"}, "{}", 3.0),
        (503, {"retry-after": "9"}, "", 9.0),
    ],
)
async def test_a_limit_says_how_long_it_lasts(
    bench: Bench, status: int, headers: dict[str, str], body: str, wait: float
) -> None:
    bench.fail(status, headers=headers, body=body)
    async with bench.client() as client:
        await client.get("/thing")
    assert bench.waits == [wait]


async def test_a_limit_that_lasts_too_long_is_told_with_its_end(bench: Bench) -> None:
    bench.fail(429, 99, headers={"retry-after": "3600"})
    async with bench.client() as client:
        with pytest.raises(RateLimited) as caught:
            await client.get("/thing")
    assert caught.value.retry_after == timedelta(hours=1)
    assert bench.waits == []


async def test_a_share_of_the_limit_is_left_to_people(bench: Bench) -> None:
    headers = {"x-ratelimit-limit": "100", "x-ratelimit-remaining": "10", "x-ratelimit-reset": "1767225650"}
    bench.fail(200, headers=headers, body="{}")
    async with bench.client() as client:
        await client.get("/thing")
        await client.get("/thing")
    assert bench.waits == [50.0]
    assert bench.told == [("Test (local)", 50.0)]


async def test_only_a_longer_wait_for_a_limit_is_told(bench: Bench) -> None:
    bench.fail(429, headers={"retry-after": "5"})
    bench.fail(503, 3)
    bench.fail(429, headers={"retry-after": "6"})
    async with bench.client() as client:
        await client.get("/thing")
    assert bench.told == [("Test (local)", 6.0)]


async def test_pages_are_followed_by_their_parameters_wherever_the_links_lead(bench: Bench) -> None:
    async with bench.client() as client:
        assert [item.number("n") async for item in client.items("/list", limit=100, state=None)] == [1, 2, 3]
        assert client.calls == 3


async def test_redirects_stay_on_the_host(bench: Bench) -> None:
    async with bench.client() as client:
        assert (await client.get("/moved")).parse() == {"ok": True, "query": {"a": "1"}}
        with pytest.raises(BadResponse, match="localhost"):
            await client.get("/away")
        with pytest.raises(BadResponse, match="redirected"):
            await client.write("POST", "/moved", {})
        moved = Request("POST", "/moved", (("status", "307"),), body={"a": 1})
        assert (await client.send(moved)).status == 200
        away = Request("GET", "/away", may_leave=True)
        assert (await client.send(away)).status == 200
    assert [("authorization" in call.headers, call.method) for call in bench.seen] == [
        (True, "GET"),
        (True, "POST"),
        (False, "GET"),
    ]


@pytest.mark.parametrize(
    ("status", "headers", "body", "kind", "words"),
    [
        (401, {}, '{"message": "Bad credentials"}', NotAuthorized, "set forges.test.token"),
        (
            403,
            {"x-oauth-scopes": "read:user", "x-accepted-oauth-scopes": "repo, public_repo"},
            "{}",
            NotAuthorized,
            "lacks public_repo or repo",
        ),
        (403, {"x-accepted-github-permissions": "issues=write"}, "{}", NotAuthorized, "lacks issues=write"),
        (
            403,
            {},
            '{"message": "token does not have at least one of required scope(s): [write:issue]"}',
            NotAuthorized,
            "lacks write:issue",
        ),
        (404, {}, '{"message": "Not Found"}', NotFound, "Not Found"),
        (409, {}, '{"message": "head out of date"}', BadResponse, "409: head out of date"),
        (
            422,
            {},
            '{"message": "Validation Failed", "errors": [{"resource": "Label", "code": "missing"}]}',
            BadResponse,
            "Label missing",
        ),
        (
            400,
            {},
            '{"errorMessages": [], "errors": {"summary": "You must specify"}}',
            BadResponse,
            "summary: You must specify",
        ),
    ],
)
async def test_errors_are_told_in_whillys_words(
    bench: Bench, status: int, headers: dict[str, str], body: str, kind: type[WhillyError], words: str
) -> None:
    bench.fail(status, headers=headers, body=body)
    async with bench.client() as client:
        with pytest.raises(kind) as caught:
            await client.get("/thing")
    assert words in str(caught.value)
    assert bench.waits == []


async def test_what_is_no_json_or_too_large_is_told(bench: Bench) -> None:
    async with bench.client(largest=1 << 20) as client:
        bench.fail(200, 9, body="<html><title>Log in</title>")
        with pytest.raises(BadResponse, match=r"an HTML page \(Log in\)"):
            await client.get("/thing")
        bench.server.faults.clear()
        bench.fail(200, body="[" * 100_000)
        assert (await client.get("/thing")).status == 200
        bench.fail(200, body='"' + "x" * (2 << 20) + '"')
        with pytest.raises(BadResponse, match="larger than 1 MiB"):
            await client.get("/thing")
        bench.fail(200, body="x" * (2 << 20) + "end")
        tail = await client.send(Request("GET", "/thing", is_json=False, keeps_end=10))
    assert tail.text == "xxxxxxxend"


async def test_a_server_that_does_not_answer_is_given_up(bench: Bench) -> None:
    bench.fail(200, 9, kind=Kind.STALLED)
    async with bench.client(request_s=0.05, tries=2) as client:
        with pytest.raises(Unavailable, match="no complete answer"):
            await client.get("/thing")
    async with HttpClient(
        "http://127.0.0.1:9", {}, Peer("Nobody"), clock=bench.clock, patience=Patience(tries=1)
    ) as gone:
        with pytest.raises(Unavailable, match="cannot be reached"):
            await gone.get("/x")
