"""What is said about a pull request on GitHub: reviews, threads on lines, the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.adapters.github.documents import RESOLVE, THREADS
from whilly.adapters.github.endpoint import GithubEndpoint, Rights
from whilly.adapters.github.payloads import read_review, read_thread
from whilly.adapters.hub_payloads import read_comment, read_person
from whilly.domain.errors import NotFound
from whilly.domain.forge.pull_request import CONVERSATION, Review, Thread
from whilly.transport.http.request import Request

if TYPE_CHECKING:
    from whilly.domain.forge.issue import Comment, Permission
    from whilly.domain.forge.pull_request import PullRef
    from whilly.transport.http.fields import Fields

_MOST_PAGES = 20
_EMPTY_REVIEW = frozenset({"COMMENTED", "PENDING"})
"""Without a text these only carry remarks, which are in the threads, or are not given yet."""


@final
class Discussion:
    """All that is said about one pull request."""

    def __init__(self, endpoint: GithubEndpoint, ref: PullRef) -> None:
        self.endpoint, self.ref = endpoint, ref
        self._http = endpoint.http
        self.path = f"/repos/{ref.repository}/pulls/{ref.number}"
        self._rights = Rights(endpoint, ref.repository)

    async def reviews(self, head: str) -> tuple[Review, ...]:
        """The reviews in their order."""
        return tuple(
            [
                read_review(data, await self._permission(data), head)
                async for data in self._http.items(f"{self.path}/reviews", per_page=100)
                if data.text("body") or data.text("state") not in _EMPTY_REVIEW
            ]
        )

    async def threads(self) -> tuple[Thread, ...]:
        """The threads on lines, and the conversation if there is one."""
        own = await self.endpoint.account()
        said = f"/repos/{self.ref.repository}/issues/{self.ref.number}/comments"
        whole = [
            read_comment(data, own, await self._permission(data)) async for data in self._http.items(said, per_page=100)
        ]
        remarks = {
            data.text("id"): read_comment(data, own, await self._permission(data))
            async for data in self._http.items(f"{self.path}/comments", per_page=100)
        }
        threads = [read_thread(data, _pick(data, remarks)) for data in await self._nodes()] if remarks else []
        return (*threads, *([Thread(CONVERSATION, tuple(whole))] if whole else []))

    async def thread(self, thread_id: str) -> Thread:
        """One thread on a line.

        Raises:
            NotFound: there is none.
        """
        found = next((thread for thread in await self.threads() if thread.id == thread_id), None)
        if found is None or not found.comments:
            message = f"{self.ref.short} has no thread {thread_id}"
            raise NotFound(message)
        return found

    async def resolve(self, thread_id: str) -> None:
        """Mark a thread as done; twice is once."""
        await self.endpoint.ask(RESOLVE, thread=thread_id)

    async def _nodes(self) -> list[Fields]:
        owner, _, name = self.ref.repository.partition("/")
        nodes: list[Fields] = []
        after: str | None = None
        for _ in range(_MOST_PAGES):
            data = await self.endpoint.ask(THREADS, owner=owner, name=name, number=self.ref.number, after=after)
            threads = data.child("repository", "pullRequest", "reviewThreads")
            nodes += threads.children("nodes")
            if not threads.flag("pageInfo", "hasNextPage"):
                break
            after = threads.text("pageInfo", "endCursor")
        return nodes

    async def _permission(self, data: Fields) -> Permission:
        return await self._rights.of(read_person(data.child("user")), data.text("author_association"))


@final
class LineThread:
    """One thread on a line, to be answered in."""

    def __init__(self, discussion: Discussion, thread_id: str) -> None:
        self._discussion, self._id = discussion, thread_id
        self._http = discussion.endpoint.http
        self._comments = f"/repos/{discussion.ref.repository}/pulls/comments"
        self._first = ""

    async def list_own(self) -> list[Comment]:
        """Those of Whilly's own account, the oldest first."""
        own = await self._discussion.endpoint.account()
        comments = (await self._discussion.thread(self._id)).comments
        self._first = comments[0].id
        return [comment for comment in comments if comment.author.id == own.id]

    async def write(self, text: str) -> object:
        """Add one."""
        path = f"{self._discussion.path}/comments/{self._first}/replies"
        return await self._http.write("POST", path, {"body": text})

    async def rewrite(self, comment: Comment, text: str) -> object:
        """Replace the text of one."""
        return await self._http.write("PATCH", f"{self._comments}/{comment.id}", {"body": text})

    async def remove(self, comment: Comment) -> object:
        """Take one away."""
        return await self._http.send(Request("DELETE", f"{self._comments}/{comment.id}", accept=frozenset({404})))


def _pick(data: Fields, remarks: dict[str, Comment]) -> tuple[Comment, ...]:
    ids = [node.text("databaseId") for node in data.children("comments", "nodes")]
    return tuple(remarks[each] for each in ids if each in remarks)
