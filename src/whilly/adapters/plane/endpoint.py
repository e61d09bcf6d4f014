"""The line to a Plane workspace: whose token it is, its projects, and what people may do."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.plane.payloads import read_own
from whilly.domain.errors import NotAuthorized, NotFound
from whilly.domain.forge.issue import Permission, Person, Standing
from whilly.ports.endpoint import Endpoint
from whilly.transport.http.fields import Fields, read_list, read_object
from whilly.transport.http.request import Request, to_params

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from whilly.domain.forge.place import Place
    from whilly.transport.http.client import HttpClient

PAGE = 100
MEMBER, ADMIN = 15, 20
"""Roles: who may change items, and who administers. Guests have less."""
_MOST_PAGES = 1000


def api_url(url: str) -> str:
    """Where the API of a Plane is, by the address of its front page."""
    return url if url.endswith("/api/v1") else f"{url.rstrip('/')}/api/v1"


def token_headers(token: str) -> Mapping[str, str]:
    """What is sent with each request."""
    return {"x-api-key": token} if token else {}


@final
class PlaneEndpoint(Endpoint):
    """One workspace. All paths end with a slash: without it, Plane turns a POST into a GET that does nothing.

    Args:
        http: to the API.
        place: as people know it.
        url: where Whilly reaches it; not used, since Plane holds no code.
        workspace: its short name, which is in every address.
    """

    def __init__(self, http: HttpClient, place: Place, url: str, workspace: str) -> None:
        self.http, self.place, self.url, self.workspace = http, place, url, workspace
        self.path = f"/workspaces/{workspace}"
        self._account: Person | None = None
        self._projects: dict[str, str] = {}

    @override
    async def probe(self) -> Standing:
        await self.http.fetch(f"{self.path}/projects/", per_page=1)
        return Standing(await self.account())

    @override
    def calls(self) -> int:
        return self.http.calls

    async def account(self) -> Person:
        """Whose token it is; asked for once."""
        if self._account is None:
            self._account = read_own(await self.http.fetch("/users/me/"))
        return self._account

    async def project(self, scope: str) -> str:
        """The path of a project, by its identifier (`ENG`) or its id.

        Raises:
            NotFound: there is none.
        """
        if scope not in self._projects:
            async for each in self.items(f"{self.path}/projects/"):
                self._projects[each.text("identifier")] = self._projects[each.text("id")] = each.need("id")
        if scope not in self._projects:
            message = f"{self.place.name}: the workspace {self.workspace} has no project {scope}"
            raise NotFound(message, remedy="identifiers are written in capitals, as Plane shows them")
        return f"{self.path}/projects/{self._projects[scope]}"

    async def identifier(self, project: str) -> str:
        """What people call a project (`ENG`), by its id.

        Raises:
            NotFound: there is none.
        """
        await self.project(project)
        return next(name for name, own in self._projects.items() if own == project and name != own)

    async def items(self, path: str, **params: object) -> AsyncIterator[Fields]:
        """The objects of a list, over all its pages. Pages may shift under changes, so each id comes once."""
        seen: set[str] = set()
        wanted = to_params({**params, "per_page": PAGE})
        what = self.http.name(Request("GET", path))
        for _ in range(_MOST_PAGES):
            data = read_object((await self.http.send(Request("GET", path, params=wanted))).parse(), what)
            for item in read_list(data.raw(), what, "results"):
                if item.need("id") not in seen:
                    seen.add(item.need("id"))
                    yield item
            if not data.flag("next_page_results"):
                return
            wanted = to_params({**params, "per_page": PAGE, "cursor": data.need("next_cursor")})


@final
class Rights:
    """What people may do in one project: their role in the workspace, if they are members of the project."""

    def __init__(self, endpoint: PlaneEndpoint, project: str) -> None:
        self._endpoint, self._project = endpoint, project
        self._known: dict[str, Permission] | None = None

    async def of(self, person: Person) -> Permission:
        """What somebody may do."""
        if self._known is None:
            self._known = await self._ask()
        return self._known.get(person.id, Permission.NONE)

    async def _ask(self) -> dict[str, Permission]:
        members = await self._list(f"{self._project}/members/")
        roles = {each.text("id"): each for each in await self._list(f"{self._endpoint.path}/members/")}
        return {each.text("id"): _read_role(roles.get(each.text("id"), each)) for each in members}

    async def _list(self, path: str) -> list[Fields]:
        try:
            answer = await self._endpoint.http.get(path)
        except NotAuthorized:
            return []
        return read_list(answer.parse(), path)


def _read_role(member: Fields) -> Permission:
    """Some versions do not tell roles; then a member may be a guest."""
    role = member.number("role")
    if not role:
        return Permission.UNKNOWN
    if role >= ADMIN:
        return Permission.ADMIN
    return Permission.WRITE if role >= MEMBER else Permission.READ
