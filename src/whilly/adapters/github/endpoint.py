"""The line to GitHub: where its API is, whose token it is, and what people may do."""

from __future__ import annotations

from typing import TYPE_CHECKING, final
from urllib.parse import quote, urlsplit

from typing_extensions import override

from whilly.adapters.github.documents import VIEWER
from whilly.adapters.hub_payloads import read_own
from whilly.domain.errors import BadResponse, NotAuthorized, NotFound, RateLimited
from whilly.domain.forge.issue import Permission, Person, Standing
from whilly.ports.endpoint import Endpoint
from whilly.transport.http.fields import Fields, read_object
from whilly.transport.http.request import Request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.forge.place import Place
    from whilly.transport.http.client import HttpClient

HEADERS = {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}
NEEDED_SCOPES = ("repo",)
_FORBIDDEN = 403

_NO_RIGHTS = frozenset({"NONE", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR", "MANNEQUIN"})
"""Associations of whom nobody has given any right; of all others it has to be asked."""
_LEVELS = {
    "admin": Permission.ADMIN,
    "maintain": Permission.WRITE,
    "write": Permission.WRITE,
    "push": Permission.WRITE,
    "triage": Permission.READ,
    "read": Permission.READ,
    "pull": Permission.READ,
    "none": Permission.NONE,
}
_ERRORS = {"NOT_FOUND": NotFound, "FORBIDDEN": NotAuthorized, "INSUFFICIENT_SCOPES": NotAuthorized}


def api_url(url: str) -> str:
    """Where the API of a GitHub is, by the address that people use."""
    host = urlsplit(url).hostname or ""
    if host in {"github.com", "www.github.com"}:
        return "https://api.github.com"
    if host.endswith(".ghe.com"):
        return f"https://api.{host}"
    path = urlsplit(url).path
    return url if host.startswith("api.") or path.endswith("/api/v3") else f"{url.rstrip('/')}/api/v3"


def token_headers(token: str) -> Mapping[str, str]:
    """What is sent with each request."""
    return {**HEADERS, **({"authorization": f"Bearer {token}"} if token else {})}


@final
class GithubEndpoint(Endpoint):
    """One GitHub.

    Args:
        http: to its REST API.
        place: as people know it.
        url: where Whilly reaches its git; empty is where people see it.
    """

    def __init__(self, http: HttpClient, place: Place, url: str = "") -> None:
        self.http = http
        self.place = place
        self.git_url = url or place.url
        self._account: Person | None = None

    @override
    async def probe(self) -> Standing:
        answer = await self.http.get("/user", accept=[_FORBIDDEN])
        if not answer.is_success:
            return Standing(await self.account())
        account = read_own(read_object(answer.parse(), self.http.name(Request("GET", "/user"))))
        given = answer.headers.get("x-oauth-scopes")
        scopes = None if given is None else tuple(scope.strip() for scope in given.split(",") if scope.strip())
        missing = () if scopes is None else tuple(scope for scope in NEEDED_SCOPES if scope not in scopes)
        version = answer.headers.get("x-github-enterprise-version", "")
        return Standing(account, scopes, missing, version)

    @override
    def calls(self) -> int:
        return self.http.calls

    async def account(self) -> Person:
        """Whose token it is; asked for once."""
        if self._account is None:
            try:
                self._account = read_own(await self.http.fetch("/user"))
            except NotAuthorized:
                # Tokens of apps and of workflows may not ask this, but may ask who is looking.
                viewer = (await self.ask(VIEWER)).child("viewer")
                self._account = Person(viewer.need("databaseId"), viewer.need("login"), is_bot=True)
        return self._account

    async def ask(self, document: str, **variables: object) -> Fields:
        """The data that a GraphQL document asks for.

        Raises:
            NotFound, NotAuthorized, RateLimited, BadResponse: as its errors say; GitHub answers them with status 200.
        """
        path = f"{self.http.url.removesuffix('/v3')}/graphql"
        repeat = document.lstrip().startswith("query")
        body = {"query": document, "variables": variables}
        request = Request("POST", path, body=body, is_repeatable=repeat, bucket="graphql")
        data = read_object((await self.http.send(request)).parse(), self.http.name(request))
        errors = data.children("errors")
        if not errors:
            return read_object(data.raw("data"), data.what)
        message = f"{data.what}: {'; '.join(error.text('message') for error in errors)}"
        kind = errors[0].text("type")
        if kind == "RATE_LIMITED":
            raise RateLimited(message)
        raise _ERRORS.get(kind, BadResponse)(message)


@final
class Rights:
    """What people may do in one repository; each is asked for once.

    Args:
        repository: `owner/name`.
    """

    def __init__(self, endpoint: GithubEndpoint, repository: str) -> None:
        self._http = endpoint.http
        self._repository = repository
        self._known: dict[str, Permission] = {}

    async def of(self, person: Person, association: str) -> Permission:
        """What somebody may do, whom GitHub associates so with the repository."""
        if not person.login or association in _NO_RIGHTS:
            return Permission.NONE
        if person.login not in self._known:
            self._known[person.login] = await self._ask(person.login)
        return self._known[person.login]

    async def _ask(self, login: str) -> Permission:
        path = f"/repos/{self._repository}/collaborators/{quote(login, safe='')}/permission"
        try:
            told = (await self._http.fetch(path)).text("permission")
        except NotFound:
            return Permission.NONE
        except NotAuthorized:
            return Permission.UNKNOWN
        return _LEVELS.get(told, Permission.UNKNOWN)
