"""GithubServer: issues, pull requests, reviews, checks and logs as GitHub Enterprise serves them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, final

from whilly.testing.forges.github.desk import NOT_FOUND, Desk
from whilly.testing.forges.github.graphql import GraphQL
from whilly.testing.forges.github.issues import IssueRoutes
from whilly.testing.forges.github.pulls import PullRoutes
from whilly.testing.forges.serving import GIT_PATH, find_caller, serve_git
from whilly.testing.forges.wire import Call, Handle, Refused, Reply, Route, WireServer

if TYPE_CHECKING:
    from whilly.testing.forges.hub import Hub


@final
class GithubServer(WireServer):
    """A GitHub on loopback; its API is beneath `/api/v3`.

    Args:
        page_cap: the most items of a page.
    """

    def __init__(self, hub: Hub, page_cap: int = 100) -> None:
        self.hub = hub
        self._desk = Desk(hub, page_cap)
        super().__init__(self._all_routes(), lambda _: NOT_FOUND)
        self._desk.open(self.url)

    def _all_routes(self) -> list[Route]:
        api, repo = "/api/v3", r"/api/v3/repos/([^/]+/[^/]+)"
        issues, pulls = IssueRoutes(self._desk), PullRoutes(self._desk)
        routes: list[Route] = [
            ("GET", f"{api}/user", self._user),
            ("POST", "/api/graphql", GraphQL(self.hub).answer),
            (
                "GET",
                repo,
                lambda call: Reply(
                    data=self._desk.render.repo(self._desk.require_repo(call), self._desk.require_user(call))
                ),
            ),
            ("GET", rf"{repo}/collaborators/([^/]+)/permission", self._permission),
            *((method, repo + path, handle) for method, path, handle in [*issues.routes(), *pulls.routes()]),
        ]
        plain: list[Route] = [
            ("*", GIT_PATH, lambda call: serve_git(self.hub, call)),
            ("GET", r"/logs/(\d+)", self._log),
        ]
        return [*plain, *((method, path, self._limited(handle)) for method, path, handle in routes)]

    def _limited(self, handle: Handle) -> Handle:
        """With the headers that come with every answer."""

        def answer(call: Call) -> Reply:
            try:
                reply = handle(call)
            except Refused as refused:
                reply = refused.reply
            user = find_caller(self.hub, call)
            resource = "graphql" if call.path.endswith("graphql") else "core"
            headers = {
                "x-ratelimit-limit": "5000",
                "x-ratelimit-remaining": str(5000 - len(self.requests)),
                "x-ratelimit-reset": str(int(time.time()) + 3600),  # noqa: TID251  (clients compare it with their own clock)
                "x-ratelimit-resource": resource,
            }
            if user is not None and user.scopes is not None:
                headers["x-oauth-scopes"] = ", ".join(sorted(user.scopes))
            return Reply(reply.status, reply.data, {**headers, **reply.headers}, reply.raw)

        return answer

    def _user(self, call: Call) -> Reply:
        user = self._desk.require_user(call)
        if user.is_app:
            return Reply(403, {"message": "Resource not accessible by integration"})
        return Reply(data=self._desk.render.user(user))

    def _permission(self, call: Call) -> Reply:
        repo = self._desk.require_writer(call)
        user = self.hub.users.get(call.args[1])
        if user is None:
            return NOT_FOUND
        level = repo.members.get(user.login, "none")
        return Reply(data={"permission": level, "role_name": level, "user": self._desk.render.user(user)})

    def _log(self, call: Call) -> Reply:
        """Where logs are really kept: on another host, which must not see the token."""
        if "authorization" in call.headers:
            return Reply(400, raw=b"<Error><Code>InvalidAuthenticationInfo</Code></Error>")
        row = next((row for row in self.hub.repo.checks if str(row.id) == call.args[0]), None)
        return (
            Reply(404, raw=b"") if row is None else Reply(raw=row.log.encode(), headers={"content-type": "text/plain"})
        )
