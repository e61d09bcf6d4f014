"""The contract of the Remote port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from whilly.domain.errors import NotFound, RuleViolation
from whilly.testing.contracts.suite import ContractSuite

if TYPE_CHECKING:
    from whilly.domain.ids import CommitId
    from whilly.ports.delivery.remote import Remote

BRANCH = "whilly/issue-12-größe"


class RemoteRig(Protocol):
    """A user's repository and a hosted one, whose `main` has one commit that the user's may not have yet."""

    @property
    def remote(self) -> Remote:
        """The adapter under test."""
        ...

    def commit(self, text: str) -> CommitId:
        """A commit of the user's on top of what the hosted `main` was at first; no branch moves."""
        ...

    def host(self, text: str, branch: str) -> CommitId:
        """A commit that somebody else has pushed to the hosted branch."""
        ...

    def protect(self, branch: str) -> None:
        """From now on the host lets nobody push to it."""
        ...

    def has(self, commit: CommitId) -> bool:
        """Whether the user's repository holds the commit."""
        ...

    def user_refs(self) -> frozenset[str]:
        """The user's branches, tags and remote-tracking refs, with what they are at."""
        ...


class RemoteContract(ContractSuite):
    """Override the fixture `rig`."""

    async def test_the_head_of_a_branch_is_found(self, rig: RemoteRig) -> None:
        head = rig.host("theirs", "main")
        assert await rig.remote.find_head("main") == head
        assert await rig.remote.find_head("mai") is None
        assert await rig.remote.find_head(BRANCH) is None

    async def test_what_is_fetched_is_there_and_the_user_s_refs_are_as_before(self, rig: RemoteRig) -> None:
        head, before = rig.host("theirs", "main"), rig.user_refs()
        assert await rig.remote.fetch("main") == head
        assert (rig.has(head), rig.user_refs()) == (True, before)
        newer = rig.host("more", "main")
        assert await rig.remote.fetch("main") == newer

    async def test_a_branch_that_is_not_there_cannot_be_fetched(self, rig: RemoteRig) -> None:
        with pytest.raises(NotFound):
            await rig.remote.fetch(BRANCH)

    async def test_a_branch_is_made_and_moved(self, rig: RemoteRig) -> None:
        first, second, before = rig.commit("first"), rig.commit("second"), rig.user_refs()
        assert await rig.remote.push(BRANCH, first, None)
        assert await rig.remote.find_head(BRANCH) == first
        # On top of nothing that is there: a branch that is rebased moves like this.
        assert await rig.remote.push(BRANCH, second, first)
        assert await rig.remote.find_head(BRANCH) == second
        assert rig.user_refs() == before

    async def test_pushed_again_it_is_as_it_was(self, rig: RemoteRig) -> None:
        commit = rig.commit("first")
        assert await rig.remote.push(BRANCH, commit, None)
        assert await rig.remote.push(BRANCH, commit, None)
        assert await rig.remote.find_head(BRANCH) == commit

    async def test_what_somebody_else_has_pushed_is_not_overwritten(self, rig: RemoteRig) -> None:
        ours, theirs = rig.commit("ours"), rig.host("theirs", BRANCH)
        assert not await rig.remote.push(BRANCH, ours, None)
        assert not await rig.remote.push(BRANCH, ours, rig.commit("what was there once"))
        assert await rig.remote.find_head(BRANCH) == theirs

    async def test_a_branch_that_is_gone_is_not_made_again(self, rig: RemoteRig) -> None:
        assert not await rig.remote.push(BRANCH, rig.commit("ours"), rig.commit("what was there once"))
        assert await rig.remote.find_head(BRANCH) is None

    async def test_what_the_host_forbids_says_so(self, rig: RemoteRig) -> None:
        head = rig.host("theirs", "main")
        rig.protect("main")
        with pytest.raises(RuleViolation, match="main"):
            await rig.remote.push("main", rig.commit("ours"), head)
        assert await rig.remote.find_head("main") == head
