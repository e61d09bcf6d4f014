"""The line to one server: requests that are repeated, waited for, bounded and counted."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Self, final
from urllib.parse import parse_qsl, urlsplit

import httpx2

from whilly.domain.errors import BadResponse, PortError, RateLimited, Unavailable
from whilly.domain.redaction import Redactor
from whilly.transport.http.allowance import Allowance, limited_for
from whilly.transport.http.answer import Answer, NotJson
from whilly.transport.http.fields import Fields, read_list, read_object
from whilly.transport.http.refusal import Peer, Unanswered, is_passing, translate
from whilly.transport.http.request import Request, to_params
from whilly.transport.http.wire import TooLarge, Wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
    from datetime import datetime
    from types import TracebackType

    from whilly.ports.clock import Clock

MOST_PAGES: Final = 1000
MEBIBYTE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to go on.

    Attributes:
        total_s: for one request with all repetitions and waits.
        request_s: for one try, from sending to the last byte.
        tries: how often in all, limits not counted.
        pause_s: before the first repetition; doubled for each further one.
        largest: bytes of an answer.
    """

    total_s: float = 180.0
    request_s: float = 60.0
    tries: int = 5
    pause_s: float = 1.0
    longest_pause_s: float = 30.0
    largest: int = 32 * MEBIBYTE


WORTH_TELLING_S: Final = 5.0
"""Seconds of waiting for a limit that people are told of."""


@final
class HttpClient:
    """Requests to one API.

    Args:
        url: of the API, without a slash at the end.
        headers: sent with each request, the token's among them.
        peer: who is at the other end, for messages.
        secrets: what must not be seen in any message.
        reserve: the share of the server's limits that is left to people.
        uses_proxies: whether the proxies of the machine count.
        tell: hears who asks for a longer wait, and until when.
    """

    def __init__(  # noqa: PLR0913  (all that it depends on)
        self,
        url: str,
        headers: Mapping[str, str],
        peer: Peer,
        *,
        clock: Clock,
        secrets: Iterable[str] = (),
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        patience: Patience = Patience(),
        reserve: float = 0.1,
        uses_proxies: bool = False,
        tell: Callable[[str, datetime], None] = lambda _who, _until: None,
    ) -> None:
        self.url = url.rstrip("/")
        self.peer = peer
        self.calls = 0
        self._clock, self._sleep, self._patience, self._tell = clock, sleep, patience, tell
        self._redactor = Redactor(secrets)
        self._allowance = Allowance(reserve)
        self._wire = Wire(self.url, headers, patience.request_s, uses_proxies=uses_proxies)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._wire.close()

    async def send(self, request: Request) -> Answer:
        """The answer: a success, or one of the statuses that the request accepts.

        Raises:
            Unanswered: it was sent, is not repeatable, and there was no usable answer.
            Unavailable: the server cannot be reached or fails, also after several tries.
            RateLimited: waiting for the limit would take too long.
            NotAuthorized, NotFound, BadResponse: as the status says.
        """
        try:
            return await self._persist(request)
        except PortError as error:
            # Servers repeat what they were sent, and addresses may hold what they should not.
            error.message = self._redactor.clean(error.message)
            error.args = (error.message,)
            raise

    async def get(self, path: str, *, accept: Iterable[int] = (), **params: object) -> Answer:
        """Ask for something. A parameter that is None is left out."""
        return await self.send(Request("GET", path, params=to_params(params), accept=frozenset(accept)))

    async def items(self, path: str, *within: str, **params: object) -> AsyncIterator[Fields]:
        """The objects of a list, one by one over all its pages, by the links to the next one.

        Args:
            path: as in a request.
            within: where the list is in the answer; nothing when it is the answer.
            params: of the first page; what is None is left out.
        """
        wanted = to_params(params)
        what = self.name(Request("GET", path))
        for _ in range(MOST_PAGES):
            answer = await self.send(Request("GET", path, params=wanted))
            for item in read_list(answer.parse(), what, *within):
                yield item
            following = next_page(answer)
            if following is None or following == wanted:
                return
            wanted = following

    async def fetch(self, path: str, *, accept: Iterable[int] = (), **params: object) -> Fields:
        """Ask for one object; an empty one where an accepted status came."""
        answer = await self.get(path, accept=accept, **params)
        what = self.name(Request("GET", path))
        return read_object(answer.parse(), what) if answer.is_success else Fields(None, what)

    async def write(self, method: str, path: str, body: object) -> Fields:
        """Have something made or changed, and read what came of it."""
        answer = await self.send(Request(method, path, body=body))
        return read_object(answer.parse(), self.name(Request(method, path)))

    async def pause(self, seconds: float) -> None:
        """Wait."""
        await self._sleep(seconds)

    def seconds(self) -> float:
        """A stop-watch, for deadlines."""
        return self._clock.monotonic()

    def name(self, request: Request) -> str:
        """The request in words."""
        url = request.path if "://" in request.path else f"{self.url}{request.path}"
        return f"{request.method} {url.partition('?')[0]}"

    async def _persist(self, request: Request) -> Answer:
        ends_at = self._clock.monotonic() + self._patience.total_s
        tries = 0
        while True:
            await self._wait_for_allowance(request, ends_at)
            outcome = await self._try(request)
            if isinstance(outcome, Answer):
                return outcome
            tries += not outcome.is_limit
            if not outcome.may_repeat or tries >= self._patience.tries:
                raise outcome.error
            pause = outcome.after if outcome.after is not None else self._backoff(tries)
            if self._clock.monotonic() + pause > ends_at:
                raise outcome.error
            await (self._wait_for_limit(pause) if outcome.is_limit else self._sleep(pause))

    async def _wait_for_allowance(self, request: Request, ends_at: float) -> None:
        pause = self._allowance.pause(self._clock.now(), request.bucket)
        if pause <= 0:
            return
        if self._clock.monotonic() + pause > ends_at:
            message = f"{self.peer.label}: what is left of its rate limit is kept for people, for {pause:.0f} s more"
            raise RateLimited(message, retry_after=timedelta(seconds=pause))
        await self._wait_for_limit(pause)

    async def _wait_for_limit(self, seconds: float) -> None:
        if seconds > WORTH_TELLING_S:
            self._tell(self.peer.label, self._clock.now() + timedelta(seconds=seconds))
        await self._sleep(seconds)

    async def _try(self, request: Request) -> Answer | _Setback:
        what = self.name(request)
        self.calls += 1
        try:
            answer = await self._wire.exchange(request, self._patience.largest)
        except TooLarge as error:
            return _Setback(BadResponse(f"{what}: {error}"))
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            return _Setback(self._unreachable(what, error), may_repeat=True)
        except httpx2.TransportError as error:
            return self._lost(request, f"{what}: no complete answer ({_reason(error)})")
        except httpx2.InvalidURL as fault:
            return _Setback(BadResponse(f"{what} cannot be asked for: {fault}"))
        self._allowance.note(answer.headers)
        return self._judge(request, what, answer)

    def _judge(self, request: Request, what: str, answer: Answer) -> Answer | _Setback:
        after = limited_for(answer, self._clock.now())
        if after is not None:
            message = f"{self.peer.label} asks to come back in {after:.0f} s ({answer.status}: {answer.message})"
            limited = RateLimited(message, retry_after=timedelta(seconds=after))
            return _Setback(limited, may_repeat=True, after=after, is_limit=True)
        if answer.is_success and request.is_json:
            try:
                answer.parse()
            except NotJson as fault:
                return self._lost(request, f"{what}: the answer is {fault}", is_bad=True)
        if answer.is_success or answer.status in request.accept:
            return answer
        if is_passing(answer):
            error = translate(answer, what, self.peer)
            return _Setback(error, may_repeat=True) if request.can_repeat else self._lost(request, error.message)
        return _Setback(_moved(answer, what) or translate(answer, what, self.peer))

    def _lost(self, request: Request, message: str, *, is_bad: bool = False) -> _Setback:
        if not request.can_repeat:
            return _Setback(Unanswered(message, remedy="see whether it was done before it is done again"))
        remedy = f"see whether {self.peer.label} and what stands before it are well"
        kind = BadResponse if is_bad else Unavailable
        return _Setback(kind(message, remedy=remedy), may_repeat=True)

    def _unreachable(self, what: str, error: Exception) -> Unavailable:
        remedy = "check the address, the network, and the server's certificate"
        return Unavailable(f"{what}: {self.peer.label} cannot be reached ({_reason(error)})", remedy=remedy)

    def _backoff(self, tries: int) -> float:
        return min(self._patience.longest_pause_s, self._patience.pause_s * 2.0 ** (tries - 1))


@dataclass(frozen=True, slots=True)
class _Setback:
    error: PortError
    may_repeat: bool = False
    after: float | None = None
    is_limit: bool = False


def next_page(answer: Answer) -> tuple[tuple[str, str], ...] | None:
    """The parameters of the next page; None when this is the last.

    Only the parameters: the links of a server behind a proxy name an address that need not be ours.
    """
    for part in answer.headers.get("link", "").split(","):
        target, _, relation = part.partition(";")
        if 'rel="next"' in relation:
            return tuple(parse_qsl(urlsplit(target.strip().strip("<>")).query, keep_blank_values=True))
    return None


def _moved(answer: Answer, what: str) -> BadResponse | None:
    if not 300 <= answer.status < 400:  # noqa: PLR2004  (the class of statuses)
        return None
    target = urlsplit(answer.headers.get("location", ""))
    message = f"{what} is redirected to {target.scheme}://{target.hostname}, where the token is not sent"
    return BadResponse(message, remedy="set the url to the address that the server calls its own")


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
