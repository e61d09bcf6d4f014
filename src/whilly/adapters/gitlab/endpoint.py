"""The line to a GitLab: whose token it is, and what people may do."""

from __future__ import annotations

from typing import TYPE_CHECKING, final
from urllib.parse import quote

from typing_extensions import override

from whilly.adapters.gitlab.payloads import read_own
from whilly.domain.errors import NotAuthorized, NotFound
from whilly.domain.forge.issue import Permission, Person, Standing
from whilly.ports.endpoint import Endpoint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.forge.place import Place
    from whilly.transport.http.client import HttpClient

DEVELOPER, MAINTAINER = 30, 40
"""Access levels: who may push to branches, and who may administer."""
NEEDED_SCOPES = ("api",)
_NO_SUCH_TOKEN = frozenset({400, 401, 403, 404})
"""Answers about a token of another kind than a person's, which cannot be asked about itself."""


def api_url(url: str) -> str:
    """Where the API of a GitLab is, by the address of its front page."""
    return url if url.endswith("/api/v4") else f"{url.rstrip('/')}/api/v4"


def token_headers(token: str) -> Mapping[str, str]:
    """What is sent with each request."""
    return {"private-token": token} if token else {}


def project_path(repository: str) -> str:
    """Where the API has a project: its whole path as one segment."""
    return f"/projects/{quote(repository, safe='')}"


@final
class GitlabEndpoint(Endpoint):
    """One GitLab.

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
        account = read_own(await self.http.fetch("/user"))
        version = (await self.http.fetch("/version", accept=_NO_SUCH_TOKEN)).text("version")
        token = await self.http.fetch("/personal_access_tokens/self", accept=_NO_SUCH_TOKEN)
        scopes = token.texts("scopes") if token.has("scopes") else None
        missing = () if scopes is None else tuple(scope for scope in NEEDED_SCOPES if scope not in scopes)
        expires_at = token.moment("expires_at") if token.has("expires_at") else None
        return Standing(account, scopes, missing, version, expires_at)

    @override
    def calls(self) -> int:
        return self.http.calls

    async def account(self) -> Person:
        """Whose token it is; asked for once."""
        if self._account is None:
            self._account = read_own(await self.http.fetch("/user"))
        return self._account


@final
class Rights:
    """What people may do in one project; each is asked for once.

    Args:
        repository: the project's whole path.
    """

    def __init__(self, endpoint: GitlabEndpoint, repository: str) -> None:
        self._http = endpoint.http
        self._project = project_path(repository)
        self._known: dict[str, Permission] = {}

    async def of(self, person: Person) -> Permission:
        """What somebody may do, also by their groups."""
        if not person.id:
            return Permission.NONE
        if person.id not in self._known:
            self._known[person.id] = await self._ask(person.id)
        return self._known[person.id]

    async def _ask(self, person: str) -> Permission:
        try:
            level = (await self._http.fetch(f"{self._project}/members/all/{person}")).number("access_level")
        except NotFound:
            return Permission.NONE
        except NotAuthorized:
            return Permission.UNKNOWN
        if level >= MAINTAINER:
            return Permission.ADMIN
        return Permission.WRITE if level >= DEVELOPER else Permission.READ
