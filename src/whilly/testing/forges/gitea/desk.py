"""Who may do what on our Gitea, and its words for what they may not."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.testing.forges.gitea.render import Render
from whilly.testing.forges.serving import find_caller, may_write
from whilly.testing.forges.wire import Call, Refused, Reply

if TYPE_CHECKING:
    from whilly.testing.forges.hub import Hub, Repo, User

PAGE_CAP = 50


def problem(status: int, message: str) -> Reply:
    """An error as Gitea words it."""
    return Reply(status, {"message": message, "url": "https://git.example.org/api/swagger"})


MISSING = Reply(
    404,
    {"errors": None, "message": "The target couldn't be found.", "url": "https://git.example.org/api/swagger"},
)


@final
class Desk:
    """What all handlers share.

    Attributes:
        has_actions: whether its version has the API of actions, with logs of jobs.
        checking: how many merges are answered by "try again later" although nothing is wrong.
    """

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.has_actions, self.checking = True, 0
        self.open("")

    def open(self, url: str) -> None:
        """From now on the server has this address."""
        self.url, self.render = url, Render(self.hub)

    def require_user(self, call: Call, scope: str = "") -> User:
        """Who is asking, with a token that has the scope."""
        user = find_caller(self.hub, call)
        if user is None:
            given = "authorization" in call.headers
            raise Refused(
                problem(401, "user does not exist [uid: 0, name: , keyid: 0]" if given else "token is required")
            )
        if scope and user.scopes is not None and scope not in user.scopes:
            raise Refused(problem(403, f"token does not have at least one of required scope(s): [{scope}]"))
        return user

    def require_repo(self, call: Call, scope: str = "") -> Repo:
        """The repository of the path; what somebody may not see looks absent."""
        user, repo = self.require_user(call, scope), self.hub.repos.get(call.args[0])
        if repo is None or repo.members.get(user.login, "none") == "none":
            raise Refused(MISSING)
        return repo

    def require_writer(self, call: Call, scope: str) -> Repo:
        """The repository, for what only people with write access may do."""
        repo = self.require_repo(call, scope)
        if not may_write(repo, self.require_user(call)):
            raise Refused(problem(403, "user should have a permission to write to a repo"))
        return repo
