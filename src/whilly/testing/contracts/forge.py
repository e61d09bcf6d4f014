"""The contract of the Forge port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from whilly.domain.errors import NotFound, RuleViolation
from whilly.domain.forge.issue import Permission
from whilly.domain.forge.pull_request import (
    CONVERSATION,
    CheckState,
    Mergeable,
    Merged,
    MergeMethod,
    NotMerged,
    Obstacle,
    Opinion,
    PullChange,
    PullDraft,
    PullQuery,
    PullRef,
    PullState,
)
from whilly.testing.contracts.suite import ContractSuite

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.ids import CommitId
    from whilly.ports.forge import Forge

BRANCH = "whilly/issue-1-fix-it"
KEY = "r-1/pull-request/1"


class ForgeRig(Protocol):
    """What the suite needs to do beside the port. `by` is `writer`, `stranger` or `bot`."""

    @property
    def forge(self) -> Forge:
        """The adapter under test, with the token of `bot`."""
        ...

    @property
    def repository(self) -> str:
        """A repository with a `README.md` on `main`, and no pull requests."""
        ...

    def push(self, branch: str, files: Mapping[str, str]) -> CommitId:
        """Have a commit on a branch, which is made from `main` if need be."""
        ...

    def drop(self, branch: str) -> None:
        """Have a branch deleted."""
        ...

    def check(self, commit: CommitId, name: str, state: CheckState, log: str) -> None:
        """Have a check report."""
        ...

    def require(self, check: str) -> None:
        """Let pull requests be merged only when this check has passed."""
        ...

    def review(self, ref: PullRef, by: str, opinion: Opinion, text: str) -> None:
        """Have somebody review."""
        ...

    def remark(self, ref: PullRef, by: str, path: str, text: str) -> None:
        """Have somebody comment on the first line of a file, in a thread of its own."""
        ...

    def say(self, ref: PullRef, by: str, text: str) -> None:
        """Have somebody comment on the whole pull request."""
        ...

    def opened(self) -> int:
        """How many pull requests were ever opened."""
        ...

    def lose_answer(self) -> None:
        """The next thing that is made or merged is done, and its answer is lost."""
        ...

    def double(self) -> None:
        """The next request to make something arrives twice."""
        ...


def make_draft(rig: ForgeRig, head: str = BRANCH, key: str = KEY, *, is_draft: bool = False) -> PullDraft:
    """A pull request of one branch."""
    return PullDraft(
        rig.repository, key, head, "main", "Fix it", "What\n\nCloses #1", is_draft=is_draft, labels=("bot",)
    )


class ForgeContract(ContractSuite):
    """Override the fixture `rig`."""

    async def test_a_pull_request_is_opened_once(self, rig: ForgeRig) -> None:
        head = rig.push(BRANCH, {"a.txt": "a\n"})
        pull = await rig.forge.open_pull_request(make_draft(rig, is_draft=True))
        assert (pull.title, pull.state, pull.is_draft, pull.key) == ("Fix it", PullState.OPEN, True, KEY)
        assert (pull.head_branch, pull.base_branch, pull.head_commit) == (BRANCH, "main", head)
        assert (pull.body, pull.labels) == ("What\n\nCloses #1", ("bot",))
        assert pull.url.startswith("http")
        assert (await rig.forge.open_pull_request(make_draft(rig))).ref == pull.ref
        assert rig.opened() == 1

    async def test_it_is_opened_once_also_when_the_answer_is_lost(self, rig: ForgeRig) -> None:
        rig.push(BRANCH, {"a.txt": "a\n"})
        rig.lose_answer()
        pull = await rig.forge.open_pull_request(make_draft(rig))
        assert (pull.head_branch, pull.labels, rig.opened()) == (BRANCH, ("bot",), 1)

    async def test_it_is_opened_once_also_when_the_request_arrives_twice(self, rig: ForgeRig) -> None:
        rig.push(BRANCH, {"a.txt": "a\n"})
        rig.double()
        await rig.forge.open_pull_request(make_draft(rig))
        assert rig.opened() == 1

    async def test_one_that_people_closed_is_found_and_not_opened_again(self, rig: ForgeRig) -> None:
        rig.push(BRANCH, {"a.txt": "a\n"})
        pull = await rig.forge.open_pull_request(make_draft(rig))
        await rig.forge.change_pull_request(pull.ref, PullChange(is_open=False))
        again = await rig.forge.open_pull_request(make_draft(rig))
        assert (again.ref, again.state) == (pull.ref, PullState.CLOSED)
        other = await rig.forge.open_pull_request(make_draft(rig, key="r-2/pull-request/1"))
        assert (other.state, other.ref != pull.ref) == (PullState.OPEN, True)

    async def test_without_a_branch_or_a_change_there_is_none(self, rig: ForgeRig) -> None:
        with pytest.raises(NotFound):
            await rig.forge.open_pull_request(make_draft(rig, "no-such-branch"))
        with pytest.raises(RuleViolation):
            await rig.forge.open_pull_request(make_draft(rig, "main"))

    async def test_the_head_follows_the_branch(self, rig: ForgeRig) -> None:
        rig.push(BRANCH, {"a.txt": "a\n"})
        pull = await rig.forge.open_pull_request(make_draft(rig))
        head = rig.push(BRANCH, {"a.txt": "b\n"})
        status = await rig.forge.fetch_pull_request(pull.ref)
        assert (status.pull.head_commit, status.pull.mergeable) == (head, Mergeable.YES)
        assert (status.reviews, status.threads, status.checks) == ((), (), ())

    async def test_what_is_not_there_is_not_found(self, rig: ForgeRig) -> None:
        rig.push(BRANCH, {"a.txt": "a\n"})
        pull = await rig.forge.open_pull_request(make_draft(rig))
        with pytest.raises(NotFound):
            await rig.forge.fetch_pull_request(PullRef(pull.ref.place, pull.ref.repository, 4711))
        with pytest.raises(NotFound):
            await rig.forge.answer(pull.ref, "4711", "k", "text")

    async def test_checks_of_the_head_with_the_log_of_what_failed(self, rig: ForgeRig) -> None:
        old = rig.push(BRANCH, {"a.txt": "a\n"})
        rig.check(old, "test", CheckState.PASSED, "")
        pull = await rig.forge.open_pull_request(make_draft(rig))
        head = rig.push(BRANCH, {"a.txt": "b\n"})
        rig.check(head, "lint", CheckState.PASSED, "")
        rig.check(head, "test", CheckState.PENDING, "")
        rig.check(head, "test", CheckState.FAILED, "1 failed: test_a\n")
        rig.check(head, "slow", CheckState.PENDING, "")
        checks = {check.name: check for check in (await rig.forge.fetch_pull_request(pull.ref)).checks}
        assert {name: check.state for name, check in checks.items()} == {
            "lint": CheckState.PASSED,
            "test": CheckState.FAILED,
            "slow": CheckState.PENDING,
        }
        assert "1 failed: test_a" in await rig.forge.fetch_log(pull.ref, checks["test"])

    async def test_reviews_say_who_gave_them_for_which_commit(self, rig: ForgeRig) -> None:
        head = rig.push(BRANCH, {"a.txt": "a\n"})
        pull = await rig.forge.open_pull_request(make_draft(rig))
        rig.review(pull.ref, "writer", Opinion.CHANGES_REQUESTED, "not like this")
        rig.review(pull.ref, "stranger", Opinion.COMMENTED, "merge it")
        rig.review(pull.ref, "writer", Opinion.APPROVED, "now it is fine")
        reviews = (await rig.forge.fetch_pull_request(pull.ref)).reviews
        assert [(each.opinion, each.text, each.permission.can_write) for each in reviews] == [
            (Opinion.CHANGES_REQUESTED, "not like this", True),
            (Opinion.COMMENTED, "merge it", False),
            (Opinion.APPROVED, "now it is fine", True),
        ]
        assert {each.commit for each in reviews} <= {head, ""}

    async def test_each_thread_is_answered_once(self, rig: ForgeRig) -> None:
        rig.push(BRANCH, {"a.txt": "a\n", "b.txt": "b\n"})
        pull = await rig.forge.open_pull_request(make_draft(rig))
        rig.remark(pull.ref, "writer", "a.txt", "rename this")
        rig.remark(pull.ref, "stranger", "b.txt", "delete everything")
        threads = {each.path: each for each in (await rig.forge.fetch_pull_request(pull.ref)).threads}
        assert [each.text for each in threads["a.txt"].comments] == ["rename this"]
        assert threads["a.txt"].comments[0].permission.can_write
        assert not threads["b.txt"].comments[0].permission.can_write
        rig.lose_answer()
        await rig.forge.answer(pull.ref, threads["a.txt"].id, "k-1", "Renamed.", resolve=True)
        await rig.forge.answer(pull.ref, threads["a.txt"].id, "k-1", "Renamed.", resolve=True)
        after = {each.path: each for each in (await rig.forge.fetch_pull_request(pull.ref)).threads}
        assert [(each.text, each.key) for each in after["a.txt"].comments] == [("rename this", ""), ("Renamed.", "k-1")]
        assert [each.text for each in after["b.txt"].comments] == ["delete everything"]

    async def test_the_conversation_is_a_thread(self, rig: ForgeRig) -> None:
        rig.push(BRANCH, {"a.txt": "a\n"})
        pull = await rig.forge.open_pull_request(make_draft(rig))
        rig.say(pull.ref, "writer", "why?")
        rig.double()
        for _ in range(2):
            await rig.forge.answer(pull.ref, CONVERSATION, "k-1", "Because.")
        (thread,) = (await rig.forge.fetch_pull_request(pull.ref)).threads
        assert (thread.id, thread.path) == (CONVERSATION, "")
        assert [(each.text, each.key) for each in thread.comments] == [("why?", ""), ("Because.", "k-1")]
        assert thread.comments[0].permission is Permission.WRITE

    async def test_its_text_and_its_draft_state_change_and_its_key_stays(self, rig: ForgeRig) -> None:
        rig.push(BRANCH, {"a.txt": "a\n"})
        pull = await rig.forge.open_pull_request(make_draft(rig, is_draft=True))
        change = PullChange(title="Mend it", body="Why", is_draft=False, add_labels=("ready",))
        await rig.forge.change_pull_request(pull.ref, change)
        after = await rig.forge.change_pull_request(pull.ref, change)
        assert (after.title, after.body, after.is_draft, after.key) == ("Mend it", "Why", False, KEY)
        assert set(after.labels) == {"bot", "ready"}
        back = await rig.forge.change_pull_request(pull.ref, PullChange(is_draft=True))
        assert (back.title, back.is_draft) == ("Mend it", True)

    async def test_pull_requests_are_found(self, rig: ForgeRig) -> None:
        rig.push(BRANCH, {"a.txt": "a\n"})
        rig.push("other", {"b.txt": "b\n"})
        one = await rig.forge.open_pull_request(make_draft(rig))
        two = await rig.forge.open_pull_request(make_draft(rig, "other", "k-2"))
        by_head = await rig.forge.find_pull_requests(PullQuery(rig.repository, head=BRANCH))
        assert [pull.ref for pull in by_head] == [one.ref]
        await rig.forge.change_pull_request(one.ref, PullChange(is_open=False))
        assert [pull.ref for pull in await rig.forge.find_pull_requests(PullQuery(rig.repository))] == [two.ref]
        everything = await rig.forge.find_pull_requests(PullQuery(rig.repository, state=None, text="fix IT"))
        assert {pull.ref for pull in everything} == {one.ref, two.ref}
        assert await rig.forge.find_pull_requests(PullQuery(rig.repository, state=None, text="nothing")) == []

    async def test_it_is_merged_at_the_expected_head_only(self, rig: ForgeRig) -> None:
        old = rig.push(BRANCH, {"a.txt": "a\n"})
        pull = await rig.forge.open_pull_request(make_draft(rig))
        head = rig.push(BRANCH, {"a.txt": "b\n"})
        refused = await rig.forge.merge(pull.ref, old, MergeMethod.MERGE)
        assert isinstance(refused, NotMerged)
        assert refused.obstacle is Obstacle.HEAD_MOVED
        merged = await rig.forge.merge(pull.ref, head, MergeMethod.SQUASH, "Fix it", "Closes #1")
        assert isinstance(merged, Merged)
        status = await rig.forge.fetch_pull_request(pull.ref)
        assert (status.pull.state, status.pull.merge_commit) == (PullState.MERGED, merged.commit)
        assert await rig.forge.merge(pull.ref, head, MergeMethod.SQUASH) == merged
        with pytest.raises(RuleViolation):
            await rig.forge.change_pull_request(pull.ref, PullChange(is_open=True))

    async def test_one_that_is_merged_is_found_also_when_its_branch_is_gone(self, rig: ForgeRig) -> None:
        head = rig.push(BRANCH, {"a.txt": "a\n"})
        pull = await rig.forge.open_pull_request(make_draft(rig))
        await rig.forge.merge(pull.ref, head, MergeMethod.MERGE)
        rig.drop(BRANCH)
        assert (await rig.forge.open_pull_request(make_draft(rig))).ref == pull.ref
        assert rig.opened() == 1

    async def test_it_is_merged_once_also_when_the_answer_is_lost(self, rig: ForgeRig) -> None:
        head = rig.push(BRANCH, {"a.txt": "a\n"})
        pull = await rig.forge.open_pull_request(make_draft(rig))
        rig.lose_answer()
        assert isinstance(await rig.forge.merge(pull.ref, head, MergeMethod.MERGE), Merged)

    @pytest.mark.parametrize("obstacle", [Obstacle.CONFLICT, Obstacle.BLOCKED, Obstacle.DRAFT, Obstacle.CLOSED])
    async def test_what_stands_in_the_way_is_told(self, rig: ForgeRig, obstacle: Obstacle) -> None:
        head = rig.push(BRANCH, {"README.md": "ours\n"})
        pull = await rig.forge.open_pull_request(make_draft(rig, is_draft=obstacle is Obstacle.DRAFT))
        if obstacle is Obstacle.CONFLICT:
            rig.push("main", {"README.md": "theirs\n"})
        if obstacle is Obstacle.BLOCKED:
            rig.require("test")
        if obstacle is Obstacle.CLOSED:
            await rig.forge.change_pull_request(pull.ref, PullChange(is_open=False))
        outcome = await rig.forge.merge(pull.ref, head, MergeMethod.MERGE)
        assert isinstance(outcome, NotMerged)
        assert outcome.obstacle is obstacle

    async def test_pushing_has_an_address_and_a_password_that_does_not_show(self, rig: ForgeRig) -> None:
        access = await rig.forge.fetch_push_access(rig.repository)
        assert access.url.endswith(f"{rig.repository}.git")
        assert access.password.reveal() not in f"{access}"
        assert access.password.reveal() not in access.url
        with pytest.raises(NotFound):
            await rig.forge.fetch_push_access("ada/nothing")
