"""What our forge servers share: who is asking, pages, git over HTTP."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from whilly.testing.forges.wire import Call, Json, Refused, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whilly.testing.forges.hub import Hub, Repo, Ticket, User

WRITING = frozenset({"write", "maintain", "admin"})


def find_caller(hub: Hub, call: Call) -> User | None:
    """Whose token came with the request, whichever way."""
    scheme, _, value = call.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "basic":
        value = base64.b64decode(value).decode().partition(":")[2]
    return hub.find_user(value or call.headers.get("private-token", ""))


def may_write(repo: Repo, user: User) -> bool:
    """Whether somebody may change code."""
    return repo.members.get(user.login, "none") in WRITING


def find_ticket(repo: Repo, number: str, missing: Reply, *, is_pull: bool | None = None) -> Ticket:
    """An issue or a pull request by its number."""
    ticket = repo.tickets.get(int(number))
    if ticket is None or (is_pull is not None and (ticket.pull is not None) is not is_pull):
        raise Refused(missing)
    return ticket


def paginate(items: Sequence[Json], call: Call, url: str, cap: int, sizes: tuple[str, ...] = ("per_page",)) -> Reply:
    """One page of a list, with the link to the next one.

    Args:
        items: all of the list.
        call: the request.
        url: the public address of the path.
        cap: the most that a page may have, whatever is asked for.
        sizes: the names of the parameter that asks for a size.
    """
    page, headers = slice_page(items, call, url, cap, sizes)
    return Reply(data=page, headers={**headers, "x-total-count": str(len(items))})


def slice_page(
    items: Sequence[Json], call: Call, url: str, cap: int, sizes: tuple[str, ...]
) -> tuple[list[Json], Mapping[str, str]]:
    """The items of one page, and its header."""
    size = next((int(call.query[name]) for name in sizes if name in call.query), 30)
    size = max(1, min(size, cap))
    number = max(1, int(call.query.get("page") or 1))
    shown = list(items[(number - 1) * size : number * size])
    if number * size >= len(items):
        return shown, {}
    link = f"<{url}?{urlencode({**call.query, 'page': str(number + 1)})}>"
    return shown, {"link": f'{link}; rel="next", {link}; rel="last"'}


def serve_git(hub: Hub, call: Call) -> Reply:
    """Git's own protocol, for whoever has a token in the password."""
    repo = hub.repos.get(call.args[0])
    user = find_caller(hub, call)
    if user is None:
        return Reply(401, headers={"www-authenticate": 'Basic realm="git"'}, raw=b"")
    if repo is None:
        return Reply(404, raw=b"")
    is_push = "git-receive-pack" in f"{call.args[1]}{call.query.get('service', '')}"
    if is_push and not may_write(repo, user):
        return Reply(403, raw=b"")
    return repo.git.serve(call, call.args[1])


GIT_PATH = r"/([^/]+/[^/]+)\.git/(info/refs|git-upload-pack|git-receive-pack)"


def text_of(data: Any, name: str, default: str = "") -> str:  # noqa: ANN401  (the library's context)
    """A text out of a request's body; null counts as absent."""
    value = data.get(name) if isinstance(data, dict) else None
    return default if value is None else str(value)
