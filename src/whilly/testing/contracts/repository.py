"""The contract of the Repository port."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from whilly.domain.change import Combined, Conflicted
from whilly.domain.errors import NotFound, RuleViolation
from whilly.domain.ids import CommitId
from whilly.testing.contracts.suite import ContractSuite

if TYPE_CHECKING:
    from whilly.testing.contracts.world import RepositoryWorld

_NOWHERE = CommitId("1234567890" * 4)
_HOSTILE = ("", "--help", "-h", "$(id)", "main;id", "no/such", "main\nmain", "main^{tree}", "\0", "x" * 5000)


class RepositoryContract(ContractSuite):
    """Override the fixture `world`."""

    async def test_a_commit_is_found_by_branch_full_and_short_name(self, world: RepositoryWorld) -> None:
        commit = world.make_commit({"a": "1\n"})
        world.set_ref("refs/heads/topic", commit)
        found = [
            await world.repository.find_commit(name) for name in ("topic", "refs/heads/topic", commit, commit[:12])
        ]
        assert found == [commit] * 4

    @pytest.mark.parametrize("name", _HOSTILE)
    async def test_what_is_no_commit_is_not_found(self, world: RepositoryWorld, name: str) -> None:
        assert await world.repository.find_commit(name) is None

    async def test_a_checkout_holds_exactly_the_commit(self, world: RepositoryWorld) -> None:
        commit = world.make_commit({"a": "1\n", "b/c": "2\n"})
        path = await world.repository.checkout(commit, "look")
        assert world.files_in(path) == {"a": "1\n", "b/c": "2\n"}

    async def test_a_checkout_replaces_an_older_one_of_its_name(self, world: RepositoryWorld) -> None:
        first = await world.repository.checkout(world.make_commit({"a": "1\n"}), "look")
        world.write(first, {"left-over": "x"})
        second = await world.repository.checkout(world.make_commit({"b": "2\n"}), "look")
        assert world.files_in(second) == {"b": "2\n"}

    async def test_checkouts_of_different_names_do_not_meet(self, world: RepositoryWorld) -> None:
        commit = world.make_commit({"a": "1\n"})
        names = ("r/1", "r-1", "R/1", "../r/1", "$(id)", "x" * 300, "..", "")
        paths = [await world.repository.checkout(commit, name) for name in names]
        assert len({path.lower() for path in paths}) == len(names)
        assert len({path.rpartition("/")[0] for path in paths}) == 1

    async def test_a_checkout_of_no_commit_is_not_found(self, world: RepositoryWorld) -> None:
        with pytest.raises(NotFound):
            await world.repository.checkout(_NOWHERE, "look")

    async def test_discarding_twice_is_no_error(self, world: RepositoryWorld) -> None:
        path = await world.repository.checkout(world.make_commit({"a": "1\n"}), "look")
        await world.repository.discard("look")
        await world.repository.discard("look")
        assert world.files_in(path) == {}

    async def test_a_change_on_its_own_base_becomes_one_commit_with_the_same_tree(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        commit = world.make_commit({"b": "2\n"}, world.make_commit({"a": "changed\n"}, base))
        combined = await world.repository.combine(commit, base, base, "T-1: change\n\nbody")
        assert isinstance(combined, Combined)
        assert (combined.is_same_tree, combined.is_empty) == (True, False)
        assert world.parents_of(combined.commit) == (base,)
        assert world.message_of(combined.commit) == "T-1: change\n\nbody"
        assert world.files_of(combined.commit) == {"a": "changed\n", "b": "2\n"}

    async def test_a_change_fits_on_a_target_that_moved_elsewhere(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n", "gone": "x\n"})
        commit = world.make_commit({"b": "2\n", "gone": None}, base)
        target = world.make_commit({"c": "3\n"}, base)
        combined = await world.repository.combine(commit, base, target, "change")
        assert isinstance(combined, Combined)
        assert (combined.is_same_tree, combined.is_empty) == (False, False)
        assert world.files_of(combined.commit) == {"a": "1\n", "b": "2\n", "c": "3\n"}
        assert world.parents_of(combined.commit) == (target,)

    async def test_only_what_comes_after_the_base_is_combined(self, world: RepositoryWorld) -> None:
        root = world.make_commit({"a": "1\n"})
        base = world.make_commit({"unrelated": "x\n"}, root)
        commit = world.make_commit({"b": "2\n"}, base)
        combined = await world.repository.combine(commit, base, root, "change")
        assert isinstance(combined, Combined)
        assert world.files_of(combined.commit) == {"a": "1\n", "b": "2\n"}

    async def test_two_changes_of_the_same_lines_conflict(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n", "z": "1\n"})
        commit = world.make_commit({"a": "ours\n", "z": "1\n", "b": "new\n"}, base)
        target = world.make_commit({"a": "theirs\n"}, base)
        result = await world.repository.combine(commit, base, target, "change")
        assert isinstance(result, Conflicted)
        assert (result.target, result.paths) == (target, ("a",))
        assert "a" in result.detail

    async def test_a_change_of_a_deleted_file_conflicts(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n", "b": "1\n"})
        commit = world.make_commit({"a": "changed\n"}, base)
        target = world.make_commit({"a": None}, base)
        result = await world.repository.combine(commit, base, target, "change")
        assert isinstance(result, Conflicted)
        assert result.paths == ("a",)

    async def test_a_change_that_the_target_has_already_is_empty(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        commit = world.make_commit({"a": "2\n"}, base)
        target = world.make_commit({"a": "2\n", "c": "3\n"}, base)
        combined = await world.repository.combine(commit, base, target, "change")
        assert isinstance(combined, Combined)
        assert combined.is_empty

    async def test_a_change_that_has_taken_in_the_target_does_not_conflict_again(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        target = world.make_commit({"a": "theirs\n"}, base)
        ours = world.make_commit({"a": "ours\n"}, base)
        resolved = world.make_commit({"a": "both\n"}, ours, target)
        combined = await world.repository.combine(resolved, base, target, "change")
        assert isinstance(combined, Combined)
        assert combined.is_same_tree
        later = world.make_commit({"c": "3\n"}, target)
        combined = await world.repository.combine(resolved, base, later, "change")
        assert isinstance(combined, Combined)
        assert world.files_of(combined.commit) == {"a": "both\n", "c": "3\n"}

    async def test_combining_moves_no_ref(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        before = world.refs()
        await world.repository.combine(world.make_commit({"b": "2\n"}, base), base, base, "change")
        assert world.refs() == before

    async def test_combining_no_commit_is_not_found(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        with pytest.raises(NotFound):
            await world.repository.combine(_NOWHERE, base, base, "change")

    async def test_a_strange_message_survives(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        message = "-m $(id) `id` Ёлка 🎄 " + "x" * 5000 + "\n\n# not a comment\nWhilly-Run: r1"
        combined = await world.repository.combine(world.make_commit({"b": "2\n"}, base), base, base, message)
        assert isinstance(combined, Combined)
        assert world.message_of(combined.commit) == message

    async def test_a_branch_is_created_once(self, world: RepositoryWorld) -> None:
        commit = world.make_commit({"a": "1\n"})
        other = world.make_commit({"a": "2\n"})
        assert await world.repository.advance("whilly/plan", commit, None)
        assert not await world.repository.advance("whilly/plan", other, None)
        assert world.refs()["refs/heads/whilly/plan"] == commit

    async def test_a_branch_moves_only_from_where_it_was_seen(self, world: RepositoryWorld) -> None:
        first, second = world.make_commit({"a": "1\n"}), world.make_commit({"a": "2\n"})
        world.set_ref("refs/heads/topic", first)
        assert not await world.repository.advance("topic", second, second)
        assert await world.repository.advance("topic", second, first)
        assert world.refs()["refs/heads/topic"] == second
        assert not await world.repository.advance("absent", second, first)

    async def test_of_writers_at_once_one_wins(self, world: RepositoryWorld) -> None:
        first = world.make_commit({"a": "1\n"})
        world.set_ref("refs/heads/topic", first)
        wanted = [world.make_commit({"a": f"{number}\n"}, first) for number in range(6)]
        won = await asyncio.gather(*(world.repository.advance("topic", commit, first) for commit in wanted))
        assert won.count(True) == 1
        assert world.refs()["refs/heads/topic"] == wanted[won.index(True)]

    async def test_a_branch_that_is_checked_out_is_not_moved(self, world: RepositoryWorld) -> None:
        before = world.refs()["refs/heads/main"]
        assert await world.repository.checked_out_at("main") is not None
        with pytest.raises(RuleViolation, match="main"):
            await world.repository.advance("main", world.make_commit({"a": "2\n"}, before), before)
        assert world.refs()["refs/heads/main"] == before

    async def test_other_branches_are_checked_out_nowhere(self, world: RepositoryWorld) -> None:
        world.set_ref("refs/heads/mai", world.make_commit({"a": "1\n"}))
        assert await world.repository.checked_out_at("mai") is None
        assert await world.repository.checked_out_at("absent") is None

    async def test_two_commits_are_compared_by_path(self, world: RepositoryWorld) -> None:
        old = world.make_commit({"a": "1\n", "b": "same\n", "old/name": "moved\n" * 20})
        new = world.make_commit({"a": "2\n", "c": "3\n", "old/name": None, "new/name": "moved\n" * 20}, old)
        assert await world.repository.changed_paths(old, new) == ("a", "c", "new/name", "old/name")
        assert await world.repository.changed_paths(new, new) == ()
        with pytest.raises(NotFound):
            await world.repository.changed_paths(_NOWHERE, new)

    async def test_ancestors_are_told_from_others(self, world: RepositoryWorld) -> None:
        first = world.make_commit({"a": "1\n"})
        second = world.make_commit({"a": "2\n"}, first)
        assert await world.repository.is_ancestor(first, second)
        assert await world.repository.is_ancestor(first, first)
        assert not await world.repository.is_ancestor(second, first)
