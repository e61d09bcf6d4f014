"""What is said about a pull request on Gitea: reviews, comments on lines, the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.adapters.gitea.endpoint import PAGE, GiteaEndpoint, Rights
from whilly.adapters.gitea.payloads import read_review
from whilly.adapters.hub_payloads import read_comment, read_person
from whilly.domain.errors import NotFound
from whilly.domain.forge.pull_request import CONVERSATION, Review, Thread
from whilly.transport.http.request import Request

if TYPE_CHECKING:
    from whilly.domain.forge.issue import Comment
    from whilly.domain.forge.pull_request import PullRef
    from whilly.transport.http.fields import Fields


@final
class Discussion:
    """All that is said about one pull request, read once."""

    def __init__(self, endpoint: GiteaEndpoint, ref: PullRef) -> None:
        self.endpoint, self.ref = endpoint, ref
        self._http = endpoint.http
        self.path = f"/repos/{ref.repository}/pulls/{ref.number}"
        self._rights = Rights(endpoint, ref.repository)

    async def read(self, head: str) -> tuple[tuple[Review, ...], tuple[Thread, ...]]:
        """The reviews in their order, and all threads."""
        listed = [data async for data in self._http.items(f"{self.path}/reviews", limit=PAGE)]
        found = [read_review(data, await self._rights.of(read_person(data.child("user"))), head) for data in listed]
        reviews = sorted((review for review in found if review), key=lambda review: int(review.id))
        return tuple(reviews), (*await self._line_threads(listed), *await self._conversation())

    async def threads(self) -> tuple[Thread, ...]:
        """The threads on lines."""
        listed = [data async for data in self._http.items(f"{self.path}/reviews", limit=PAGE)]
        return await self._line_threads(listed)

    async def _line_threads(self, reviews: list[Fields]) -> tuple[Thread, ...]:
        """Gitea has no threads: what is on the same line of the same file belongs together, as it shows it."""
        own = await self.endpoint.account()
        lines: dict[tuple[str, int], list[tuple[Comment, bool]]] = {}
        for review in reviews:
            if not review.number("comments_count"):
                continue
            async for data in self._http.items(f"{self.path}/reviews/{review.need('id')}/comments", limit=PAGE):
                comment = read_comment(data, own, await self._rights.of(read_person(data.child("user"))))
                # The old side of the change counts backwards.
                line = data.number("position") or -data.number("original_position")
                lines.setdefault((data.text("path"), line), []).append((comment, data.has("resolver")))
        return tuple(_make_thread(path, line, said) for (path, line), said in lines.items())

    async def _conversation(self) -> tuple[Thread, ...]:
        own = await self.endpoint.account()
        path = f"/repos/{self.ref.repository}/issues/{self.ref.number}/comments"
        said = [
            read_comment(data, own, await self._rights.of(read_person(data.child("user"))))
            async for data in self._http.items(path, limit=PAGE)
        ]
        return (Thread(CONVERSATION, tuple(said)),) if said else ()


def _make_thread(path: str, line: int, said: list[tuple[Comment, bool]]) -> Thread:
    comments = sorted((comment for comment, _ in said), key=lambda comment: int(comment.id))
    is_resolved = any(resolved for _, resolved in said)
    return Thread(f"{path}:{line}", tuple(comments), path, max(line, 0), is_resolved)


@final
class LineThread:
    """The comments on one line, to be answered there by a review of its own: Gitea has no replies."""

    def __init__(self, discussion: Discussion, thread_id: str, head: str) -> None:
        self._discussion, self._id, self._head = discussion, thread_id, head
        self._http = discussion.endpoint.http
        self._comments = f"/repos/{discussion.ref.repository}/issues/comments"

    async def list_own(self) -> list[Comment]:
        """Those of Whilly's own account, the oldest first."""
        found = next((thread for thread in await self._discussion.threads() if thread.id == self._id), None)
        if found is None:
            message = f"{self._discussion.ref.short} has no thread {self._id}"
            raise NotFound(message)
        own = await self._discussion.endpoint.account()
        return [comment for comment in found.comments if comment.author.id == own.id]

    async def write(self, text: str) -> object:
        """Add one."""
        path, _, line = self._id.rpartition(":")
        side = {"new_position": int(line)} if int(line) >= 0 else {"old_position": -int(line)}
        remark = {"path": path, "body": text, **side}
        body = {"event": "COMMENT", "body": "", "commit_id": self._head, "comments": [remark]}
        return await self._http.write("POST", f"{self._discussion.path}/reviews", body)

    async def rewrite(self, comment: Comment, text: str) -> object:
        """Replace the text of one."""
        return await self._http.write("PATCH", f"{self._comments}/{comment.id}", {"body": text})

    async def remove(self, comment: Comment) -> object:
        """Take one away."""
        return await self._http.send(Request("DELETE", f"{self._comments}/{comment.id}", accept=frozenset({404})))
