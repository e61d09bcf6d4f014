"""GitlabServer: issues, merge requests, discussions, approvals and jobs as GitLab serves them."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.testing.forges.gitlab.desk import Desk, missing
from whilly.testing.forges.gitlab.issues import IssueRoutes
from whilly.testing.forges.gitlab.pulls import PullRoutes
from whilly.testing.forges.gitlab.render import LEVELS
from whilly.testing.forges.serving import GIT_PATH, serve_git
from whilly.testing.forges.wire import Call, Reply, Route, WireServer

if TYPE_CHECKING:
    from whilly.testing.forges.hub import Hub


@final
class GitlabServer(WireServer):
    """A GitLab on loopback; its API is beneath `/api/v4`.

    Args:
        page_cap: the most items of a page.
    """

    def __init__(self, hub: Hub, page_cap: int = 100) -> None:
        self.hub = hub
        self._desk = Desk(hub, page_cap)
        super().__init__(self._all_routes(), lambda _: Reply(404, {"error": "404 Not Found"}))
        self._desk.url = self.url

    def _all_routes(self) -> list[Route]:
        api, project = "/api/v4", "/api/v4/projects/([^/]+)"
        routes = [*IssueRoutes(self._desk).routes(), *PullRoutes(self._desk).routes()]
        return [
            ("*", GIT_PATH, lambda call: serve_git(self.hub, call)),
            ("GET", f"{api}/user", lambda call: Reply(data=self._desk.render.user(self._desk.require_user(call)))),
            ("GET", f"{api}/version", lambda _: Reply(data={"version": "18.5.0", "revision": "abc"})),
            ("GET", f"{api}/personal_access_tokens/self", self._token),
            ("GET", f"{api}/users", self._users),
            ("GET", project, self._project),
            ("GET", rf"{project}/members/all/(\d+)", self._member),
            *((method, project + path, handle) for method, path, handle in routes),
        ]

    def _token(self, call: Call) -> Reply:
        scopes = self._desk.require_user(call).scopes
        return Reply(data={"scopes": ["api"] if scopes is None else sorted(scopes), "expires_at": "2027-01-01"})

    def _users(self, call: Call) -> Reply:
        self._desk.require_user(call)
        user = self.hub.users.get(call.query.get("username", ""))
        return self._desk.page([self._desk.render.user(user)] if user else [], call)

    def _project(self, call: Call) -> Reply:
        return Reply(data=self._desk.render.project(self._desk.require_project(call), self._desk.require_user(call)))

    def _member(self, call: Call) -> Reply:
        repo = self._desk.require_project(call)
        user = next((user for user in self.hub.users.values() if user.id == int(call.args[1])), None)
        level = LEVELS.get(repo.members.get(user.login, ""), 0) if user else 0
        if user is None or not level:
            return missing("Not")
        return Reply(data=self._desk.render.user(user) | {"access_level": level})
