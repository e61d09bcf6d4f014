"""What the contract suites of trackers and forges do beside the port, on a hub."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from whilly.adapters.memory.clock import ManualClock
from whilly.domain.forge.marker import strip_mark
from whilly.domain.forge.reference import IssueRef
from whilly.domain.ids import CommitId
from whilly.ports.forge import Forge
from whilly.ports.tracker import Tracker
from whilly.testing.forges.faults import Fault, Kind
from whilly.testing.forges.hub import BOT, STRANGER, WRITER, Hub
from whilly.testing.forges.rules import head_of
from whilly.testing.forges.wire import WireServer
from whilly.transport.http.client import HttpClient
from whilly.transport.http.refusal import Peer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.forge.pull_request import CheckState, Opinion, PullRef
    from whilly.testing.forges.hub import Pull, Ticket

PEOPLE = {"bot": BOT, "writer": WRITER, "stranger": STRANGER}


@dataclass(slots=True)
class HubRig:
    """An adapter and the server that it speaks to.

    Attributes:
        place: the name that references have.
        making: the methods and paths of requests that make something.
    """

    hub: Hub
    server: WireServer
    place: str
    tracker: Tracker
    forge: Forge
    making: Sequence[tuple[str, str]] = (("POST", r"/(?:comments|replies|pulls|reviews)$"), ("PUT", "/merge$"))

    @property
    def scope(self) -> str:
        """Where issues are filed."""
        return self.hub.repo.name

    @property
    def repository(self) -> str:
        """Where pull requests are opened."""
        return self.hub.repo.name

    def file(self, title: str, body: str, by: str = "writer", labels: Sequence[str] = ()) -> IssueRef:
        """Have somebody file an issue."""
        ticket = self.hub.add_ticket(self.hub.repo, self.hub.users[PEOPLE[by]], title, body)
        self.hub.set_labels(self.hub.repo, ticket, list(labels))
        return IssueRef(self.place, self.scope, str(ticket.number))

    def texts(self, ref: IssueRef) -> list[str]:
        """All comments as people see them."""
        return [strip_mark(note.body) for note in self._ticket(ref).notes]

    def say(self, ref: IssueRef | PullRef, by: str, text: str) -> None:
        """Have somebody comment on an issue or a whole pull request."""
        self.hub.add_note(self._ticket(ref), self.hub.users[PEOPLE[by]], text)

    def push(self, branch: str, files: Mapping[str, str]) -> CommitId:
        """Have a commit on a branch."""
        return CommitId(self.hub.repo.git.push(branch, files))

    def drop(self, branch: str) -> None:
        """Have a branch deleted."""
        self.hub.repo.git.delete(branch)

    def check(self, commit: CommitId, name: str, state: CheckState, log: str) -> None:
        """Have a check report."""
        self.hub.add_check(self.hub.repo, commit, name, str(state), log, is_job=name != "lint")

    def require(self, check: str) -> None:
        """Let pull requests be merged only when this check has passed."""
        self.hub.repo.required.add(check)

    def review(self, ref: PullRef, by: str, opinion: Opinion, text: str) -> None:
        """Have somebody review."""
        pull = self._pull(ref)
        head = head_of(self.hub.repo, pull)
        self.hub.add_review(pull, self.hub.users[PEOPLE[by]], str(opinion), text, head)

    def remark(self, ref: PullRef, by: str, path: str, text: str) -> None:
        """Have somebody comment on the first line of a file."""
        pull = self._pull(ref)
        head = head_of(self.hub.repo, pull)
        self.hub.add_remark(pull, self.hub.users[PEOPLE[by]], path, 1, text, commit=head)

    def opened(self) -> int:
        """How many pull requests were ever opened."""
        return sum(ticket.pull is not None for ticket in self.hub.repo.tickets.values())

    def lose_answer(self) -> None:
        """The next thing that is made is made, and its answer is lost."""
        self._break(Kind.LOST)

    def double(self) -> None:
        """The next request to make something arrives twice."""
        self._break(Kind.DOUBLED)

    def _break(self, kind: Kind) -> None:
        self.server.faults += [Fault(kind, method, path) for method, path in self.making]

    def _ticket(self, ref: IssueRef | PullRef) -> Ticket:
        return self.hub.repo.tickets[int(ref.number)]

    def _pull(self, ref: PullRef) -> Pull:
        pull = self._ticket(ref).pull
        if pull is None:
            raise KeyError(ref.short)
        return pull


def make_http(url: str, headers: Mapping[str, str], token: str) -> HttpClient:
    """A line to a test server on which waiting takes no time."""
    clock = ManualClock()

    async def wait(seconds: float) -> None:
        clock.advance(timedelta(seconds=seconds))

    return HttpClient(
        url, headers, Peer(f"the test server ({url})", "set its token"), clock=clock, secrets=[token], sleep=wait
    )
