"""The contract of the Trees port."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.domain.change import Extent
from whilly.domain.errors import NotFound
from whilly.domain.ids import CommitId
from whilly.testing.contracts.suite import ContractSuite

if TYPE_CHECKING:
    from whilly.ports.delivery.trees import Trees
    from whilly.testing.contracts.world import RepositoryWorld

_NOWHERE = CommitId("1234567890" * 4)


class TreesContract(ContractSuite):
    """Override the fixtures `world`, and `trees`, those of it."""

    async def test_what_differs_is_measured_by_path(self, world: RepositoryWorld, trees: Trees) -> None:
        old = world.make_commit({"a": "1\n2\n3\n", "gone": "1\n", "same": "x\n"})
        new = world.make_commit({"a": "1\nzwei\n3\n4\n", "gone": None, "deep/ new\t1": "1\n2\n"}, old)
        assert await trees.measure(old, new) == (
            Extent("a", 2, 1),
            Extent("deep/ new\t1", 2, 0, was_there=False),
            Extent("gone", 0, 1, is_there=False),
        )
        assert await trees.measure(new, new) == ()

    async def test_a_rename_is_both_of_its_paths(self, world: RepositoryWorld, trees: Trees) -> None:
        old = world.make_commit({"old": "moved\n" * 20})
        new = world.make_commit({"old": None, "new": "moved\n" * 20}, old)
        assert [(each.path, each.added, each.removed) for each in await trees.measure(old, new)] == [
            ("new", 20, 0),
            ("old", 0, 20),
        ]

    async def test_chosen_paths_are_as_another_commit_has_them(self, world: RepositoryWorld, trees: Trees) -> None:
        base = world.make_commit({"a": "1\n", "tests/t": "old\n", "tests/u": "old\n", "é": "old\n"})
        head = world.make_commit(
            {"a": "2\n", "tests/t": "new\n", "tests/u": None, "tests/v": "new\n", "é": "ü\n"}, base
        )
        chosen = ("tests/t", "tests/u", "tests/v", "é", "nowhere")
        made = await trees.overlay(base, head, chosen)
        assert world.files_of(made) == {"a": "1\n", "tests/t": "new\n", "tests/v": "new\n", "é": "ü\n"}
        assert world.parents_of(made) == (base,)
        back = await trees.overlay(head, base, chosen)
        assert world.files_of(back) == {"a": "2\n", "tests/t": "old\n", "tests/u": "old\n", "é": "old\n"}

    async def test_a_folder_takes_the_place_of_a_file_and_back(self, world: RepositoryWorld, trees: Trees) -> None:
        file = world.make_commit({"a": "1\n", "tests": "one file\n"})
        folder = world.make_commit({"tests/t": "many\n", "a": "2\n", "tests": None}, file)
        assert world.files_of(await trees.overlay(file, folder, ("tests", "tests/t"))) == {
            "a": "1\n",
            "tests/t": "many\n",
        }
        assert world.files_of(await trees.overlay(folder, file, ("tests", "tests/t"))) == {
            "a": "2\n",
            "tests": "one file\n",
        }

    async def test_what_is_put_together_can_be_checked_out(self, world: RepositoryWorld, trees: Trees) -> None:
        base = world.make_commit({"a": "1\n"})
        head = world.make_commit({"a": "2\n", "test_a": "x\n"}, base)
        place = await world.repository.checkout(await trees.overlay(base, head, ["test_a"]), "look")
        assert world.files_in(place) == {"a": "1\n", "test_a": "x\n"}

    async def test_no_ref_moves(self, world: RepositoryWorld, trees: Trees) -> None:
        base = world.make_commit({"a": "1\n"})
        before = world.refs()
        await trees.overlay(base, world.make_commit({"a": "2\n"}, base), ["a"])
        assert world.refs() == before

    async def test_without_a_path_the_tree_is_the_same(self, world: RepositoryWorld, trees: Trees) -> None:
        base = world.make_commit({"a": "1\n"})
        head = world.make_commit({"a": "2\n"}, base)
        assert world.files_of(await trees.overlay(base, head, [])) == {"a": "1\n"}

    async def test_no_commit_is_not_found(self, world: RepositoryWorld, trees: Trees) -> None:
        commit = world.make_commit({"a": "1\n"})
        with pytest.raises(NotFound):
            await trees.measure(_NOWHERE, commit)
        with pytest.raises(NotFound):
            await trees.overlay(commit, _NOWHERE, ["a"])
