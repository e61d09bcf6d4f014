"""GiteaServer: issues, pull requests, reviews, statuses and jobs as Gitea and Forgejo serve them."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.testing.forges.gitea.desk import MISSING, Desk
from whilly.testing.forges.gitea.issues import IssueRoutes
from whilly.testing.forges.gitea.pulls import PLAIN_404, PullRoutes
from whilly.testing.forges.serving import GIT_PATH, serve_git
from whilly.testing.forges.wire import Call, Reply, Route, WireServer

if TYPE_CHECKING:
    from whilly.testing.forges.hub import Hub


@final
class GiteaServer(WireServer):
    """A Gitea on loopback; its API is beneath `/api/v1`, and gives at most 50 items at once."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.desk = Desk(hub)
        super().__init__(self._all_routes(), lambda _: PLAIN_404)
        self.desk.open(self.url)

    def _all_routes(self) -> list[Route]:
        api, repo = "/api/v1", r"/api/v1/repos/([^/]+/[^/]+)"
        routes = [*IssueRoutes(self.desk).routes(), *PullRoutes(self.desk).routes()]
        return [
            ("*", GIT_PATH, lambda call: serve_git(self.hub, call)),
            ("GET", f"{api}/version", lambda _: Reply(data={"version": "1.22.0"})),
            ("GET", f"{api}/user", self._user),
            ("GET", repo, self._repo),
            ("GET", rf"{repo}/collaborators/([^/]+)/permission", self._permission),
            *((method, repo + path, handle) for method, path, handle in routes),
        ]

    def _user(self, call: Call) -> Reply:
        return Reply(data=self.desk.render.user(self.desk.require_user(call, "read:user")))

    def _repo(self, call: Call) -> Reply:
        return Reply(data=self.desk.render.repo(self.desk.require_repo(call), self.desk.require_user(call)))

    def _permission(self, call: Call) -> Reply:
        repo, caller = self.desk.require_repo(call), self.desk.require_user(call)
        user = self.hub.users.get(call.args[1])
        if repo.members.get(caller.login) != "admin" and user is not caller:
            return Reply(403, {"message": "Only admins can query all permissions", "url": ""})
        if user is None:
            return MISSING
        level = "owner" if repo.name.startswith(f"{user.login}/") else repo.members.get(user.login, "none")
        data = {"permission": level, "role_name": level, "user": self.desk.render.user(user)}
        return Reply(data=data)
