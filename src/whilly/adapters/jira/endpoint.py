"""The line to a Jira: which of the two it is, whose token it is, and what people may do."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, final
from urllib.parse import urlencode

from typing_extensions import override

from whilly.adapters.jira.payloads import read_own
from whilly.domain.errors import BadResponse, NotAuthorized
from whilly.domain.forge.issue import Permission, Person, Standing
from whilly.ports.endpoint import Endpoint
from whilly.transport.http.fields import read_list

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.forge.place import Place
    from whilly.transport.http.client import HttpClient

_SERVER_INFO = "/rest/api/2/serverInfo"


def api_url(url: str) -> str:
    """Where the API of a Jira is: beneath its front page, under paths that name their version."""
    return url.rstrip("/")


def token_headers(token: str, username: str = "") -> Mapping[str, str]:
    """What is sent with each request: name and API token in the cloud, a personal access token elsewhere."""
    if not token:
        return {}
    if username:
        pair = base64.b64encode(f"{username}:{token}".encode()).decode()
        return {"authorization": f"Basic {pair}"}
    return {"authorization": f"Bearer {token}"}


@final
class JiraEndpoint(Endpoint):
    """One Jira.

    Args:
        http: to its front page.
        place: as people know it.
    """

    def __init__(self, http: HttpClient, place: Place, url: str = "") -> None:
        self.http = http
        self.place = place
        self.url = url or place.url
        self._account: Person | None = None
        self._is_cloud: bool | None = None

    @override
    async def probe(self) -> Standing:
        info = await self.http.fetch(_SERVER_INFO)
        self._is_cloud = info.text("deploymentType") == "Cloud"
        return Standing(await self.account(), version=info.text("version"))

    @override
    def calls(self) -> int:
        return self.http.calls

    async def is_cloud(self) -> bool:
        """Whether it is Jira Cloud; asked for once. Older servers do not say what they are."""
        if self._is_cloud is None:
            info = await self.http.fetch(_SERVER_INFO)
            self._is_cloud = info.text("deploymentType") == "Cloud"
        return self._is_cloud

    async def path(self, rest: str) -> str:
        """A path of the API in the version that speaks the texts of this Jira."""
        return f"/rest/api/{3 if await self.is_cloud() else 2}{rest}"

    async def account(self) -> Person:
        """Whose token it is; asked for once."""
        if self._account is None:
            self._account = read_own(await self.http.fetch(await self.path("/myself")))
        return self._account


@final
class Rights:
    """Who may edit one issue; each is asked for once. Jira has no repositories: to edit is to write here."""

    def __init__(self, endpoint: JiraEndpoint, key: str) -> None:
        self._endpoint, self._key = endpoint, key
        self._known: dict[str, Permission] = {}

    async def of(self, person: Person) -> Permission:
        """What somebody may do."""
        if not person.id:
            return Permission.NONE
        if person.id not in self._known:
            self._known[person.id] = await self._ask(person)
        return self._known[person.id]

    async def _ask(self, person: Person) -> Permission:
        path = await self._endpoint.path("/user/permission/search")
        whom = ("accountId", person.id) if await self._endpoint.is_cloud() else ("username", person.login)
        query = urlencode([("permissions", "EDIT_ISSUES"), ("issueKey", self._key), whom])
        try:
            answer = await self._endpoint.http.get(f"{path}?{query}")
        except (NotAuthorized, BadResponse):
            # Only administrators of the project are told.
            return Permission.UNKNOWN
        return Permission.WRITE if read_list(answer.parse(), path) else Permission.READ
