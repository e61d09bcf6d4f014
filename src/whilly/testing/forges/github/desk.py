"""Who may do what on our GitHub, and how it words what it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.testing.forges.github.render import Render
from whilly.testing.forges.serving import find_caller, may_write
from whilly.testing.forges.wire import Call, Refused, Reply

if TYPE_CHECKING:
    from whilly.testing.forges.hub import Hub, Repo, User

NOT_FOUND = Reply(404, {"message": "Not Found", "documentation_url": "https://docs.github.com/rest"})


@final
class Desk:
    """What all handlers share."""

    def __init__(self, hub: Hub, page_cap: int) -> None:
        self.hub, self.page_cap = hub, page_cap
        self.open("")

    def open(self, url: str) -> None:
        """From now on the server has this address."""
        self.url, self.render = url, Render(self.hub, url)

    def require_user(self, call: Call) -> User:
        """Who is asking."""
        user = find_caller(self.hub, call)
        if user is None:
            raise Refused(
                Reply(
                    401,
                    {"message": "Bad credentials" if "authorization" in call.headers else "Requires authentication"},
                )
            )
        return user

    def require_repo(self, call: Call, *, writes: bool = False) -> Repo:
        """The repository of the path, if the caller may do this to it; what they may not see looks absent."""
        user, repo = self.require_user(call), self.hub.repos.get(call.args[0])
        if repo is None or repo.members.get(user.login, "none") == "none":
            raise Refused(NOT_FOUND)
        if writes and user.scopes is not None and "repo" not in user.scopes:
            message = {"message": "Must have admin rights to Repository."}
            raise Refused(Reply(403, message, {"x-accepted-oauth-scopes": "public_repo, repo"}))
        return repo

    def require_writer(self, call: Call) -> Repo:
        """The repository, for what only people with write access may do."""
        repo = self.require_repo(call, writes=True)
        if not may_write(repo, self.require_user(call)):
            raise Refused(Reply(403, {"message": "Resource not accessible by personal access token"}))
        return repo
