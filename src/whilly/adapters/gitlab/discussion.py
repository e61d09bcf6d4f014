"""What is said about a merge request on GitLab: approvals, threads on lines, the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from whilly.adapters.gitlab.endpoint import GitlabEndpoint, Rights, project_path
from whilly.adapters.gitlab.payloads import read_note, read_person
from whilly.adapters.gitlab.tracker import PAGE
from whilly.domain.errors import NotFound
from whilly.domain.forge.pull_request import CONVERSATION, Opinion, Review, Thread
from whilly.transport.http.fields import read_list
from whilly.transport.http.request import Request

if TYPE_CHECKING:
    from whilly.domain.forge.issue import Comment
    from whilly.domain.forge.pull_request import PullRef
    from whilly.transport.http.fields import Fields

_OPINIONS = {"approved": Opinion.APPROVED, "requested_changes": Opinion.CHANGES_REQUESTED}
_ABSENT = frozenset({404})


@final
class Discussion:
    """All that is said about one merge request."""

    def __init__(self, endpoint: GitlabEndpoint, ref: PullRef) -> None:
        self.endpoint, self.ref = endpoint, ref
        self._http = endpoint.http
        self.path = f"{project_path(ref.repository)}/merge_requests/{ref.number}"
        self._rights = Rights(endpoint, ref.repository)

    async def reviews(self) -> tuple[Review, ...]:
        """What reviewers have decided. GitLab keeps no texts with it, and not which commit they saw."""
        approvals = await self._http.fetch(f"{self.path}/approvals", accept=_ABSENT)
        given = [(entry, "approved") for entry in approvals.children("approved_by")]
        answer = await self._http.get(f"{self.path}/reviewers", accept=_ABSENT)
        if answer.is_success and read_list(answer.parse(), f"{self.path}/reviewers"):
            reviewers = self._http.items(f"{self.path}/reviewers", per_page=PAGE)
            given += [(entry, entry.text("state")) async for entry in reviewers if entry.text("state") != "approved"]
        return tuple([await self._read_review(entry, word) for entry, word in given if word in _OPINIONS])

    async def _read_review(self, entry: Fields, word: str) -> Review:
        author = read_person(entry.child("user"))
        return Review(
            id=f"{word}-{author.id}",
            author=author,
            permission=await self._rights.of(author),
            opinion=_OPINIONS[word],
            text="",
            commit="",
            created_at=entry.moment("approved_at") if entry.has("approved_at") else entry.moment("created_at"),
        )

    async def threads(self) -> tuple[Thread, ...]:
        """The threads on lines, and everything else as the conversation."""
        lines: list[Thread] = []
        whole: list[Comment] = []
        async for data in self._http.items(f"{self.path}/discussions", per_page=PAGE):
            notes = [note for note in data.children("notes") if not note.flag("system")]
            comments = [await self._read_note(note) for note in notes]
            if notes and notes[0].text("type") == "DiffNote":
                lines.append(_make_thread(data, notes, tuple(comments)))
            else:
                whole += comments
        whole.sort(key=lambda comment: (comment.created_at, int(comment.id)))
        return (*lines, *([Thread(CONVERSATION, tuple(whole))] if whole else []))

    async def thread(self, thread_id: str) -> Thread:
        """One thread on a line.

        Raises:
            NotFound: there is none.
        """
        found = next((each for each in await self.threads() if each.id == thread_id), None)
        if found is None or not found.comments:
            message = f"{self.ref.short} has no thread {thread_id}"
            raise NotFound(message)
        return found

    async def resolve(self, thread_id: str) -> None:
        """Mark a thread as done; twice is once."""
        await self._http.write("PUT", f"{self.path}/discussions/{thread_id}", {"resolved": True})

    async def _read_note(self, note: Fields) -> Comment:
        url = f"{self.endpoint.place.url}/{self.ref.repository}/-/merge_requests/{self.ref.number}"
        permission = await self._rights.of(read_person(note.child("author")))
        return read_note(note, await self.endpoint.account(), permission, url)


def _make_thread(data: Fields, notes: list[Fields], comments: tuple[Comment, ...]) -> Thread:
    position = notes[0].child("position")
    return Thread(
        id=data.need("id"),
        comments=comments,
        path=position.text("new_path") or position.text("old_path"),
        line=position.number("new_line"),
        is_resolved=any(note.flag("resolved") for note in notes),
    )


@final
class LineThread:
    """One thread on a line, to be answered in."""

    def __init__(self, discussion: Discussion, thread_id: str) -> None:
        self._discussion, self._id = discussion, thread_id
        self._http = discussion.endpoint.http
        self._notes = f"{discussion.path}/discussions/{thread_id}/notes"

    async def list_own(self) -> list[Comment]:
        """Those of Whilly's own account, the oldest first."""
        own = await self._discussion.endpoint.account()
        return [each for each in (await self._discussion.thread(self._id)).comments if each.author.id == own.id]

    async def write(self, text: str) -> object:
        """Add one."""
        return await self._http.write("POST", self._notes, {"body": text})

    async def rewrite(self, comment: Comment, text: str) -> object:
        """Replace the text of one."""
        return await self._http.write("PUT", f"{self._notes}/{comment.id}", {"body": text})

    async def remove(self, comment: Comment) -> object:
        """Take one away."""
        return await self._http.send(Request("DELETE", f"{self._notes}/{comment.id}", accept=_ABSENT))
