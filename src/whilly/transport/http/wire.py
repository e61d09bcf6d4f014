"""One exchange with a server: the answer's size is bounded, and the token never goes to another host."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, final
from urllib.parse import urljoin, urlsplit

import httpx2

from whilly.transport.http.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.transport.http.request import Request

_MOVED = frozenset({301, 302, 303, 307, 308})
_KEEPS_METHOD = frozenset({307, 308})
_MOST_REDIRECTS = 5


class TooLarge(ValueError):
    """The answer is larger than it may be."""


@final
class Wire:
    """Sends single requests.

    Args:
        url: of the API, without a slash at the end.
        headers: sent to the API's host only.
        seconds: for one exchange, from sending to the last byte.
    """

    def __init__(self, url: str, headers: Mapping[str, str], seconds: float, *, uses_proxies: bool) -> None:
        self._url = url
        self._headers = {"user-agent": "whilly", "accept": "application/json", **headers}
        self._seconds = seconds
        self._client = httpx2.AsyncClient(timeout=seconds, trust_env=uses_proxies, follow_redirects=False)

    async def close(self) -> None:
        """End all connections."""
        await self._client.aclose()

    async def exchange(self, request: Request, largest: int) -> Answer:
        """The answer, after redirects that may be followed; one that may not be followed is the answer itself.

        Raises:
            TooLarge: the body has more than `largest` bytes, and the request does not keep its end.
            httpx2.TransportError: as the library says.
        """
        try:
            async with asyncio.timeout(self._seconds):
                return await self._follow(request, largest)
        except TimeoutError:
            message = f"not complete after {self._seconds:g} s"
            raise httpx2.ReadTimeout(message) from None

    async def _follow(self, request: Request, largest: int) -> Answer:
        url = request.path if "://" in request.path else self._url + request.path
        answer = await self._once(request, url, largest, with_params=True)
        for _ in range(_MOST_REDIRECTS):
            target = urljoin(url, answer.headers.get("location", ""))
            if not self._may_follow(request, answer, target):
                break
            # The new address has the parameters in it already.
            url, answer = target, await self._once(request, target, largest, with_params=False)
        return answer

    async def _once(self, request: Request, url: str, largest: int, *, with_params: bool) -> Answer:
        headers = self._headers if _host(url) == _host(self._url) else {"user-agent": self._headers["user-agent"]}
        async with self._client.stream(
            request.method,
            url,
            # httpx takes the query out of an address when there are parameters, even none.
            params=request.params if with_params and request.params else None,
            json=request.body,
            headers=headers,
        ) as response:
            body = await _read(response, largest, request.keeps_end)
        return Answer(response.status_code, {name.lower(): value for name, value in response.headers.items()}, body)

    def _may_follow(self, request: Request, answer: Answer, target: str) -> bool:
        if answer.status not in _MOVED or "location" not in answer.headers:
            return False
        if request.method != "GET" and answer.status not in _KEEPS_METHOD:
            # A client that follows these turns the request into one that does nothing.
            return False
        return request.may_leave or _host(target) == _host(self._url)


async def _read(response: httpx2.Response, largest: int, keeps_end: int) -> bytes:
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if keeps_end:
            del body[:-keeps_end]
        elif len(body) > largest:
            message = f"the answer is larger than {largest >> 20} MiB"
            raise TooLarge(message)
    return bytes(body)


def _host(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port: the token goes nowhere else, and never from https to http."""
    parts = urlsplit(url)
    return parts.scheme.lower(), (parts.hostname or "").lower(), parts.port
