"""What all our forge servers have in common: people, repositories, issues, pull requests; each server words it anew."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from whilly.testing.forges.git_host import BareRepository

if TYPE_CHECKING:
    from pathlib import Path

START = datetime(2026, 1, 1, tzinfo=UTC)
BOT, WRITER, STRANGER = "whilly-bot", "dana", "mallory"
"""Whilly's own account; somebody who may write; somebody who may not."""


@dataclass(slots=True)
class User:
    """An account; `scopes` None is a token that may do everything, `is_app` one of a program, not of a person."""

    id: int
    login: str
    token: str
    scopes: set[str] | None = None
    is_app: bool = False


@dataclass(slots=True)
class Note:
    """A comment."""

    id: int
    author: User
    body: str
    created: str
    updated: str


@dataclass(slots=True)
class Remark:
    """A comment on a line of a change; `first` is the id of the one that began the thread."""

    id: int
    author: User
    body: str
    path: str
    line: int
    commit: str
    created: str
    first: int
    review: int
    is_resolved: bool = False


@dataclass(slots=True)
class ReviewRow:
    """A review; `opinion` is `approved`, `changes_requested` or `commented`."""

    id: int
    author: User
    opinion: str
    body: str
    commit: str
    created: str


@dataclass(slots=True)
class Pull:
    """What a pull request has beyond an issue."""

    head: str
    base: str
    is_draft: bool = False
    merged: str = ""
    last_head: str = ""
    reviews: list[ReviewRow] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    reviewers: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Ticket:
    """An issue or a pull request."""

    id: int
    number: int
    title: str
    body: str
    author: User
    created: str
    updated: str
    state: str = "open"
    reason: str = ""
    labels: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    pull: Pull | None = None


@dataclass(slots=True)
class CheckRow:
    """One result of a check; `state` is `pending`, `passed` or `failed`."""

    id: int
    commit: str
    name: str
    state: str
    log: str
    summary: str = ""
    is_job: bool = True


@dataclass(slots=True)
class Repo:
    """A repository with its issues; `required` are the names of checks that have to pass before a merge."""

    id: int
    name: str
    git: BareRepository
    members: dict[str, str]
    labels: dict[str, int] = field(default_factory=dict)
    tickets: dict[int, Ticket] = field(default_factory=dict)
    checks: list[CheckRow] = field(default_factory=list)
    required: set[str] = field(default_factory=set)
    approvals: int = 0


class Hub:
    """The state of a server: one repository `ada/engine` with a commit on `main`, three people, no issues.

    Args:
        folder: where the bare repositories are made.
    """

    def __init__(self, folder: Path, repository: str = "ada/engine") -> None:
        self._folder = folder
        self._ids = itertools.count(101)
        self._moments = itertools.count()
        names = ("ada", BOT, WRITER, STRANGER)
        self.users = {login: User(self.next_id(), login, f"token-of-{login}-0123456789") for login in names}
        self.repos: dict[str, Repo] = {}
        self.add_repository(repository)

    @property
    def bot_token(self) -> str:
        """The token of Whilly's own account."""
        return self.users[BOT].token

    @property
    def repo(self) -> Repo:
        """The first repository."""
        return next(iter(self.repos.values()))

    def add_repository(self, name: str) -> Repo:
        """Make another repository with the same members."""
        git = BareRepository.make(self._folder / f"{name}.git")
        members = {"ada": "admin", BOT: "admin", WRITER: "write", STRANGER: "read"}
        self.repos[name] = Repo(self.next_id(), name, git, members)
        return self.repos[name]

    def next_id(self) -> int:
        """An id that nothing has yet."""
        return next(self._ids)

    def now(self) -> str:
        """A time, one second after the last one."""
        return (START + timedelta(seconds=next(self._moments))).isoformat().replace("+00:00", "Z")

    def find_user(self, token: str) -> User | None:
        """Whose token it is."""
        return next((user for user in self.users.values() if user.token == token), None)

    def add_ticket(self, repo: Repo, author: User, title: str, body: str, pull: Pull | None = None) -> Ticket:
        """File an issue or open a pull request."""
        number, now = len(repo.tickets) + 1, self.now()
        repo.tickets[number] = Ticket(self.next_id(), number, title, body, author, now, now, pull=pull)
        return repo.tickets[number]

    def add_note(self, ticket: Ticket, author: User, body: str) -> Note:
        """Comment on an issue or a pull request."""
        now = self.now()
        note = Note(self.next_id(), author, body, now, now)
        ticket.notes.append(note)
        ticket.updated = now
        return note

    def find_note(self, repo: Repo, note_id: int) -> tuple[Ticket, Note] | None:
        """A comment by its id."""
        notes = ((ticket, note) for ticket in repo.tickets.values() for note in ticket.notes)
        return next(((ticket, note) for ticket, note in notes if note.id == note_id), None)

    def set_labels(self, repo: Repo, ticket: Ticket, names: list[str]) -> None:
        """Give a ticket these labels, in order and once each; unknown ones are made."""
        ticket.labels = list(dict.fromkeys(names))
        ticket.updated = self.now()
        for name in ticket.labels:
            repo.labels.setdefault(name, self.next_id())

    def add_remark(  # noqa: PLR0913  (all that it depends on)
        self, pull: Pull, author: User, path: str, line: int, body: str, *, commit: str = "", first: int = 0
    ) -> Remark:
        """Comment on a line; a review of its own carries it, as forges do it."""
        now, own = self.now(), self.next_id()
        review = ReviewRow(self.next_id(), author, "commented", "", commit, now)
        pull.reviews.append(review)
        remark = Remark(own, author, body, path, line, commit, now, first or own, review.id)
        pull.remarks.append(remark)
        return remark

    def add_review(self, pull: Pull, author: User, opinion: str, body: str, commit: str) -> ReviewRow:
        """Give a review."""
        review = ReviewRow(self.next_id(), author, opinion, body, commit, self.now())
        pull.reviews.append(review)
        return review

    def add_check(
        self, repo: Repo, commit: str, name: str, state: str, log: str = "", *, is_job: bool = True
    ) -> CheckRow:
        """Report a result."""
        row = CheckRow(self.next_id(), commit, name, state, log, f"{name} {state}", is_job)
        repo.checks.append(row)
        return row
