"""The contract of the Workspace port."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.domain.change import Combined
from whilly.domain.errors import NotFound
from whilly.domain.ids import CommitId, RunId, attempt_id
from whilly.testing.contracts.suite import ContractSuite

if TYPE_CHECKING:
    from whilly.testing.contracts.world import RepositoryWorld

_RUN = RunId("run-1")
_FIRST = attempt_id(_RUN, 1)


class WorkspaceContract(ContractSuite):
    """Override the fixture `world`."""

    async def test_a_workspace_starts_as_its_base(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n", "b/c": "2\n"})
        path = await world.workspace.open(_RUN, "whilly/T-1", base)
        assert world.files_in(path) == {"a": "1\n", "b/c": "2\n"}
        assert world.refs()["refs/heads/whilly/T-1"] == base
        assert await world.workspace.find_branch(_RUN) == "whilly/T-1"

    async def test_opening_again_finds_it_as_it_was_left(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        path = await world.workspace.open(_RUN, "whilly/T-1", base)
        world.write(path, {"a": "changed\n", "new": "x\n"})
        assert await world.workspace.open(_RUN, "whilly/T-1", base) == path
        assert world.files_in(path) == {"a": "changed\n", "new": "x\n"}

    async def test_a_branch_of_somebody_else_is_not_taken_over(self, world: RepositoryWorld) -> None:
        base, foreign = world.make_commit({"a": "1\n"}), world.make_commit({"b": "1\n"})
        world.set_ref("refs/heads/whilly/T-1", foreign)
        await world.workspace.open(_RUN, "whilly/T-1", base)
        name = await world.workspace.find_branch(_RUN)
        assert name not in {None, "whilly/T-1"}
        assert world.refs()["refs/heads/whilly/T-1"] == foreign
        assert world.refs()[f"refs/heads/{name}"] == base

    async def test_two_runs_do_not_meet(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        first = await world.workspace.open(_RUN, "whilly/T-1", base)
        second = await world.workspace.open(RunId("run-2"), "whilly/T-1", base)
        world.write(first, {"a": "changed\n"})
        assert world.files_in(second) == {"a": "1\n"}
        assert await world.workspace.find_branch(_RUN) != await world.workspace.find_branch(RunId("run-2"))

    @pytest.mark.parametrize(
        "name", ["$(id)", "../../etc", "a\nb", "Ёлка", "-x", "x" * 5000, ".lock", "", "a b~^:?*[\\"]
    )
    async def test_strange_ids_get_tame_places(self, world: RepositoryWorld, name: str) -> None:
        base = world.make_commit({"a": "1\n"})
        run = RunId(name or "empty")
        path = await world.workspace.open(run, f"whilly/{name}", base)
        world.write(path, {"b": "2\n"})
        saved = await world.workspace.save(run, attempt_id(run, 1), base)
        branch = await world.workspace.find_branch(run)
        assert saved.paths == ("b",)
        assert branch is not None
        assert len(branch) <= 80
        assert branch.isascii()
        await world.workspace.close(run, keep_branch=True)

    async def test_opening_at_no_commit_is_not_found(self, world: RepositoryWorld) -> None:
        with pytest.raises(NotFound):
            await world.workspace.open(_RUN, "whilly/T-1", CommitId("1234567890" * 4))

    async def test_saving_commits_all_that_changed(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n", "b": "1\n", "c/d": "1\n"})
        path = await world.workspace.open(_RUN, "whilly/T-1", base)
        world.write(path, {"b": "2\n", "c/d": None, "z/new": "x\n"})
        saved = await world.workspace.save(_RUN, _FIRST, base)
        assert saved.paths == ("b", "c/d", "z/new")
        assert (saved.unresolved, saved.left_out) == ((), ())
        assert world.files_of(saved.commit) == {"a": "1\n", "b": "2\n", "z/new": "x\n"}
        assert world.refs()["refs/whilly/wip/run-1/1"] == saved.commit

    async def test_saving_leaves_the_workspace_alone(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        path = await world.workspace.open(_RUN, "whilly/T-1", base)
        world.write(path, {"a": "2\n"})
        await world.workspace.save(_RUN, _FIRST, base)
        assert world.files_in(path) == {"a": "2\n"}
        assert world.refs()["refs/heads/whilly/T-1"] == base

    async def test_an_unchanged_workspace_changes_no_path(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        await world.workspace.open(_RUN, "whilly/T-1", base)
        saved = await world.workspace.save(_RUN, _FIRST, base)
        assert saved.paths == ()
        assert world.files_of(saved.commit) == {"a": "1\n"}

    async def test_saving_twice_gives_the_same_tree(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        path = await world.workspace.open(_RUN, "whilly/T-1", base)
        world.write(path, {"a": "2\n"})
        first = await world.workspace.save(_RUN, _FIRST, base)
        second = await world.workspace.save(_RUN, _FIRST, base)
        assert world.files_of(first.commit) == world.files_of(second.commit)
        assert first.paths == second.paths

    async def test_what_an_attempt_saved_before_stays_reachable(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        path = await world.workspace.open(_RUN, "whilly/T-1", base)
        saved = []
        for content in ("2\n", "3\n", "4\n"):
            world.write(path, {"a": content})
            saved.append((await world.workspace.save(_RUN, _FIRST, base)).commit)
        await world.workspace.close(_RUN, keep_branch=False)
        assert [world.files_of(commit)["a"] for commit in saved] == ["2\n", "3\n", "4\n"]
        assert all(world.is_held(commit) for commit in saved)

    async def test_a_renewed_workspace_holds_the_same_work(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n", "b": "1\n"})
        path = await world.workspace.open(_RUN, "whilly/T-1", base)
        world.write(path, {"a": "2\n", "b": None, "c": "3\n"})
        await world.workspace.renew(_RUN)
        assert await world.workspace.open(_RUN, "whilly/T-1", base) == path
        assert world.files_in(path) == {"a": "2\n", "c": "3\n"}
        world.write(path, {"d": "4\n"})
        saved = await world.workspace.save(_RUN, _FIRST, base)
        assert saved.paths == ("a", "b", "c", "d")
        await world.workspace.close(_RUN, keep_branch=False)
        assert world.is_held(saved.commit)

    async def test_a_renewed_workspace_holds_the_same_conflict(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        target = world.make_commit({"a": "theirs\n", "c": "3\n"}, base)
        path = await world.workspace.open(_RUN, "whilly/T-1", base)
        world.write(path, {"a": "ours\n"})
        await world.workspace.bring_in(_RUN, target)
        await world.workspace.renew(_RUN)
        assert await world.workspace.bring_in(_RUN, target) == ("a",)
        assert "<<<<<<<" in world.files_in(path)["a"]
        world.write(path, {"a": "both\n"})
        await world.workspace.renew(_RUN)
        assert world.files_in(path) == {"a": "both\n", "c": "3\n"}
        saved = await world.workspace.save(_RUN, _FIRST, base)
        assert saved.unresolved == ()
        combined = await world.repository.combine(saved.commit, base, target, "T-1")
        assert isinstance(combined, Combined)
        assert world.files_of(combined.commit) == {"a": "both\n", "c": "3\n"}

    async def test_a_run_without_workspace_cannot_be_renewed(self, world: RepositoryWorld) -> None:
        with pytest.raises(NotFound):
            await world.workspace.renew(_RUN)

    async def test_a_run_without_workspace_cannot_be_saved(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        with pytest.raises(NotFound):
            await world.workspace.save(_RUN, _FIRST, base)

    async def test_a_target_that_fits_is_brought_in(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        target = world.make_commit({"c": "3\n"}, base)
        path = await world.workspace.open(_RUN, "whilly/T-1", base)
        world.write(path, {"b": "2\n"})
        assert await world.workspace.bring_in(_RUN, target) == ()
        assert await world.workspace.bring_in(_RUN, target) == ()
        assert world.files_in(path) == {"a": "1\n", "b": "2\n", "c": "3\n"}

    async def test_a_conflict_is_left_with_markers_until_it_is_resolved(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        target = world.make_commit({"a": "theirs\n", "c": "3\n"}, base)
        path = await world.workspace.open(_RUN, "whilly/T-1", base)
        world.write(path, {"a": "ours\n"})
        assert await world.workspace.bring_in(_RUN, target) == ("a",)
        assert await world.workspace.bring_in(_RUN, target) == ("a",)
        text = world.files_in(path)["a"]
        assert [line for line in ("<<<<<<<", "ours\n", "=======\n", "theirs\n", ">>>>>>>") if line not in text] == []
        assert (await world.workspace.save(_RUN, _FIRST, base)).unresolved == ("a",)
        world.write(path, {"a": "both\n"})
        saved = await world.workspace.save(_RUN, attempt_id(_RUN, 2), base)
        assert saved.unresolved == ()
        combined = await world.repository.combine(saved.commit, base, target, "T-1")
        assert isinstance(combined, Combined)
        assert world.files_of(combined.commit) == {"a": "both\n", "c": "3\n"}

    async def test_an_unresolved_conflict_gives_way_to_a_later_target(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        target = world.make_commit({"a": "theirs\n"}, base)
        later = world.make_commit({"a": "theirs again\n"}, target)
        path = await world.workspace.open(_RUN, "whilly/T-1", base)
        world.write(path, {"a": "ours\n"})
        await world.workspace.bring_in(_RUN, target)
        assert await world.workspace.bring_in(_RUN, later) == ("a",)
        text = world.files_in(path)["a"]
        assert ("theirs again\n" in text, text.count("<<<<<<<")) == (True, 1)

    async def test_a_run_without_workspace_takes_nothing_in(self, world: RepositoryWorld) -> None:
        with pytest.raises(NotFound):
            await world.workspace.bring_in(_RUN, world.make_commit({"a": "1\n"}))

    async def test_closing_leaves_the_work_on_the_branch_for_people(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        path = await world.workspace.open(_RUN, "whilly/T-1", base)
        world.write(path, {"a": "2\n", "b": "new\n"})
        await world.workspace.close(_RUN, keep_branch=True)
        assert world.files_in(path) == {}
        assert world.files_of(world.refs()["refs/heads/whilly/T-1"]) == {"a": "2\n", "b": "new\n"}

    async def test_closing_without_the_branch_keeps_the_work_in_a_ref(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        path = await world.workspace.open(_RUN, "whilly/T-1", base)
        world.write(path, {"a": "2\n"})
        saved = await world.workspace.save(_RUN, _FIRST, base)
        world.write(path, {"a": "3\n"})
        await world.workspace.close(_RUN, keep_branch=False)
        refs = world.refs()
        assert "refs/heads/whilly/T-1" not in refs
        assert world.is_held(saved.commit)
        contents = {world.files_of(commit).get("a") for ref, commit in refs.items() if ref.startswith("refs/whilly/")}
        assert {"2\n", "3\n"} <= contents

    async def test_closing_twice_or_never_opened_is_no_error(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        await world.workspace.close(_RUN, keep_branch=False)
        await world.workspace.open(_RUN, "whilly/T-1", base)
        await world.workspace.close(_RUN, keep_branch=False)
        await world.workspace.close(_RUN, keep_branch=False)
        assert await world.workspace.find_branch(_RUN) is None

    async def test_a_closed_run_can_be_opened_anew(self, world: RepositoryWorld) -> None:
        base = world.make_commit({"a": "1\n"})
        path = await world.workspace.open(_RUN, "whilly/T-1", base)
        world.write(path, {"a": "2\n"})
        await world.workspace.close(_RUN, keep_branch=True)
        later = world.make_commit({"a": "later\n"})
        assert world.files_in(await world.workspace.open(_RUN, "whilly/T-1", later)) == {"a": "later\n"}
