"""Who may do what on our GitLab."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.testing.forges.gitlab.render import Render
from whilly.testing.forges.serving import find_caller, may_write, paginate
from whilly.testing.forges.wire import Call, Json, Refused, Reply

if TYPE_CHECKING:
    from whilly.testing.forges.hub import Hub, Repo, User


def missing(what: str) -> Reply:
    """GitLab's words for what is not there."""
    return Reply(404, {"message": f"404 {what} Not Found"})


@final
class Desk:
    """What all handlers share."""

    def __init__(self, hub: Hub, page_cap: int) -> None:
        self.hub, self.page_cap = hub, page_cap
        self.render = Render(hub)
        self.url = ""

    def page(self, items: list[Json], call: Call) -> Reply:
        """One page of a list."""
        return paginate(items, call, f"{self.url}{call.path}", self.page_cap)

    def require_user(self, call: Call) -> User:
        """Who is asking."""
        user = find_caller(self.hub, call)
        if user is None:
            raise Refused(Reply(401, {"message": "401 Unauthorized"}))
        return user

    def require_project(self, call: Call, *, writes: bool = False) -> Repo:
        """The project of the path, by its name or id; what somebody may not see looks absent."""
        user, name = self.require_user(call), call.args[0]
        repo = next((each for each in self.hub.repos.values() if name in {each.name, str(each.id)}), None)
        if repo is None or repo.members.get(user.login, "none") == "none":
            raise Refused(missing("Project"))
        if writes and user.scopes is not None and "api" not in user.scopes:
            told = "The request requires higher privileges than provided by the access token."
            raise Refused(Reply(403, {"error": "insufficient_scope", "error_description": told, "scope": "api"}))
        return repo

    def require_developer(self, call: Call) -> Repo:
        """The project, for what only its developers may do."""
        repo = self.require_project(call, writes=True)
        if not may_write(repo, self.require_user(call)):
            raise Refused(Reply(403, {"message": "403 Forbidden"}))
        return repo
