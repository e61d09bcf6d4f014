"""The doubles of trackers and forges keep the contract."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.memory.clock import ManualClock
from whilly.adapters.memory.forge import HostedCode, MemoryForge
from whilly.adapters.memory.tracker import MemoryTracker
from whilly.domain.forge.issue import Permission, Person
from whilly.domain.forge.marker import strip_mark
from whilly.domain.forge.pull_request import Check, CheckState
from whilly.domain.ids import CommitId
from whilly.testing.contracts import ForgeContract, TrackerContract

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whilly.domain.forge.pull_request import Opinion, PullRef
    from whilly.domain.forge.reference import IssueRef

PEOPLE = {name: Person(str(number), name) for number, name in enumerate(("bot", "writer", "stranger"), start=1)}
RIGHTS = {"bot": Permission.WRITE, "writer": Permission.WRITE, "stranger": Permission.READ}


class NothingFails:
    def lose_answer(self) -> None:
        """There is no way on which it could be lost."""

    def double(self) -> None:
        """As above."""


class MemoryTrackerRig(NothingFails):
    scope = "ada/engine"

    def __init__(self) -> None:
        self.tracker = MemoryTracker(ManualClock(), PEOPLE["bot"], RIGHTS)

    def file(self, title: str, body: str, by: str = "writer", labels: Sequence[str] = ()) -> IssueRef:
        return self.tracker.file(self.scope, PEOPLE[by], title, body, labels)

    def say(self, ref: IssueRef, by: str, text: str) -> None:
        self.tracker.say(ref, PEOPLE[by], strip_mark(text))

    def texts(self, ref: IssueRef) -> list[str]:
        return [comment.text for comment in self.tracker._require(ref).comments]


class MemoryForgeRig(NothingFails):
    repository = "ada/engine"

    def __init__(self) -> None:
        self.commits = itertools.count(1)
        self.repo = HostedCode({"main": CommitId("0" * 40)})
        self.touched: dict[str, set[str]] = {"main": set()}
        self.forge = MemoryForge(ManualClock(), PEOPLE["bot"], RIGHTS, {self.repository: self.repo})

    def push(self, branch: str, files: Mapping[str, str]) -> CommitId:
        self.touched.setdefault(branch, set()).update(files)
        if branch == "main":
            self.repo.conflicts = {name for name, paths in self.touched.items() if paths & set(files)} - {"main"}
        commit = self.repo.branches[branch] = CommitId(f"{next(self.commits):040x}")
        return commit

    def drop(self, branch: str) -> None:
        del self.repo.branches[branch]

    def check(self, commit: CommitId, name: str, state: CheckState, log: str) -> None:
        self.repo.checks.setdefault(commit, {})[name] = (Check(name, state, log="1"), log)

    def require(self, check: str) -> None:
        self.repo.required.add(check)

    def review(self, ref: PullRef, by: str, opinion: Opinion, text: str) -> None:
        self.forge.review(ref, PEOPLE[by], opinion, text)

    def remark(self, ref: PullRef, by: str, path: str, text: str) -> None:
        self.forge.say(ref, PEOPLE[by], text, path)

    def say(self, ref: PullRef, by: str, text: str) -> None:
        self.forge.say(ref, PEOPLE[by], text)

    def opened(self) -> int:
        return len(self.forge._records)


class TestMemoryTracker(TrackerContract):
    @pytest.fixture
    def rig(self) -> MemoryTrackerRig:
        return MemoryTrackerRig()


class TestMemoryForge(ForgeContract):
    @pytest.fixture
    def rig(self) -> MemoryForgeRig:
        return MemoryForgeRig()
