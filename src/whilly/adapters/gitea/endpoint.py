"""The line to a Gitea or Forgejo: whose token it is, what people may do, which labels there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, final
from urllib.parse import quote

from typing_extensions import override

from whilly.adapters.hub_payloads import read_own
from whilly.domain.errors import NotAuthorized, NotFound
from whilly.domain.forge.issue import Permission, Person, Standing
from whilly.ports.endpoint import Endpoint
from whilly.transport.http.request import Request

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from whilly.domain.forge.place import Place
    from whilly.transport.http.client import HttpClient

PAGE = 50
"""Gitea gives no more at once, whatever it is asked for."""

_LEVELS = {"owner": Permission.ADMIN}
_COLOUR = "#ededed"
_GONE = frozenset({404, 422})


def api_url(url: str) -> str:
    """Where the API of a Gitea is, by the address of its front page."""
    return url if url.endswith("/api/v1") else f"{url.rstrip('/')}/api/v1"


def token_headers(token: str) -> Mapping[str, str]:
    """What is sent with each request."""
    return {"authorization": f"token {token}"} if token else {}


@final
class GiteaEndpoint(Endpoint):
    """One Gitea or Forgejo.

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
        version = (await self.http.fetch("/version")).text("version")
        return Standing(read_own(await self.http.fetch("/user")), version=version)

    @override
    def calls(self) -> int:
        return self.http.calls

    async def account(self) -> Person:
        """Whose token it is; asked for once."""
        if self._account is None:
            self._account = read_own(await self.http.fetch("/user"))
        return self._account

    async def label_ids(self, repository: str, names: Iterable[str], *, makes: bool) -> list[int]:
        """The ids of labels of the repository or its organisation.

        Args:
            repository: `owner/name`.
            names: those wanted.
            makes: whether one that is not there is made; otherwise it is left out.
        """
        wanted = list(names)
        known = await self._labels(f"/repos/{repository}/labels") if wanted else {}
        if not set(wanted) <= set(known):
            owner = repository.partition("/")[0]
            known = {**await self._organisation_labels(f"/orgs/{owner}/labels"), **known}
        ids: list[int] = []
        for name in wanted:
            if name not in known and makes:
                body = {"name": name, "color": _COLOUR}
                known[name] = (await self.http.write("POST", f"/repos/{repository}/labels", body)).number("id")
            if name in known:
                ids.append(known[name])
        return ids

    async def add_labels(self, repository: str, number: str | int, names: Iterable[str]) -> None:
        """Add labels to an issue or a pull request; those that are not known are made, and twice is once."""
        if ids := await self.label_ids(repository, names, makes=True):
            path = f"/repos/{repository}/issues/{number}/labels"
            await self.http.send(Request("POST", path, body={"labels": ids}, is_repeatable=True))

    async def remove_labels(self, repository: str, number: str | int, names: Iterable[str]) -> None:
        """Take labels from an issue or a pull request."""
        for each in await self.label_ids(repository, names, makes=False):
            path = f"/repos/{repository}/issues/{number}/labels/{each}"
            await self.http.send(Request("DELETE", path, accept=_GONE))

    async def _labels(self, path: str) -> dict[str, int]:
        return {each.text("name"): each.number("id") async for each in self.http.items(path, limit=PAGE)}

    async def _organisation_labels(self, path: str) -> dict[str, int]:
        try:
            return await self._labels(path)
        except (NotFound, NotAuthorized):
            # The owner is a person, or the token has no scope for organisations.
            return {}


@final
class Rights:
    """What people may do in one repository; each is asked for once.

    Args:
        repository: `owner/name`.
    """

    def __init__(self, endpoint: GiteaEndpoint, repository: str) -> None:
        self._http = endpoint.http
        self._repository = repository
        self._known = {repository.partition("/")[0]: Permission.ADMIN}

    async def of(self, person: Person) -> Permission:
        """What somebody may do."""
        if not person.login:
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
            # Only administrators of the repository are told about others.
            return Permission.UNKNOWN
        return _LEVELS.get(told) or (Permission(told) if told in set(Permission) else Permission.UNKNOWN)
