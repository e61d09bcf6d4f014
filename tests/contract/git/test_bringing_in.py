from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.git.layout import find_record, write_record
from whilly.domain.ids import RunId, attempt_id

if TYPE_CHECKING:
    from whilly.domain.ids import CommitId
    from whilly.testing.git_world import GitWorld

RUN = RunId("run-1")


async def open_with(world: GitWorld, base: CommitId, files: dict[str, str | bytes | None]) -> str:
    path = await world.workspace.open(RUN, "whilly/T-1", base)
    world.write(path, files)
    return path


async def test_the_conflict_shows_the_common_ancestor(world: GitWorld) -> None:
    base = world.make_commit({"a": "top\n1\nend\n"})
    path = await open_with(world, base, {"a": "top\nours\nend\n"})
    await world.workspace.bring_in(RUN, world.make_commit({"a": "top\ntheirs\nend\n"}, base))
    text = world.files_in(path)["a"]
    assert text.startswith("top\n<<<<<<<")
    assert "|||||||" in text
    assert "\n1\n=======\n" in text


async def test_a_merge_that_was_killed_half_way_starts_again(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    target = world.make_commit({"a": "theirs\n", "c": "3\n", "d": "4\n"}, base)
    path = await open_with(world, base, {"a": "ours\n"})
    head = world.scratch.commit("ours", path)
    record = find_record(world.layout.record(RUN))
    assert record is not None
    write_record(world.layout.record(RUN), dataclasses.replace(record, merging=head))
    # What git had written when it was killed: some files, no index, no MERGE_HEAD.
    world.write(path, {"a": "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> x\n", "c": "3\n"})
    (world.layout.registration("run-1") / "index.lock").touch()

    async def pause(_seconds: float) -> None:
        return

    world.git._pause = pause
    assert await world.workspace.bring_in(RUN, target) == ("a",)
    assert world.scratch.git("show", "HEAD:a", cwd=path) == "ours"
    assert sorted(world.files_in(path)) == ["a", "c", "d"]


async def test_a_resolution_that_was_committed_is_kept_when_more_comes_in(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    target = world.make_commit({"a": "theirs\n"}, base)
    path = await open_with(world, base, {"a": "ours\n"})
    await world.workspace.bring_in(RUN, target)
    record = find_record(world.layout.record(RUN))
    assert record is not None
    # Killed after git had done all of it.
    write_record(world.layout.record(RUN), dataclasses.replace(record, merging=base))
    assert await world.workspace.bring_in(RUN, target) == ("a",)
    world.write(path, {"a": "both\n"})
    world.scratch.commit("resolved", path)
    assert await world.workspace.bring_in(RUN, target) == ()
    assert await world.workspace.bring_in(RUN, world.make_commit({"z": "1\n"}, target)) == ()
    assert world.files_in(path) == {"a": "both\n", "z": "1\n"}


async def test_a_resolution_that_was_not_committed_is_kept_when_more_comes_in(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    target = world.make_commit({"a": "theirs\n"}, base)
    path = await open_with(world, base, {"a": "ours\n"})
    await world.workspace.bring_in(RUN, target)
    world.write(path, {"a": "both\n"})
    assert await world.workspace.bring_in(RUN, world.make_commit({"z": "1\n"}, target)) == ()
    assert world.files_in(path) == {"a": "both\n", "z": "1\n"}


async def test_a_half_resolution_is_held_before_it_gives_way(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n", "b": "1\n"})
    target = world.make_commit({"a": "theirs\n", "b": "theirs\n"}, base)
    path = await open_with(world, base, {"a": "ours\n", "b": "ours\n"})
    await world.workspace.bring_in(RUN, target)
    world.write(path, {"a": "both\n"})
    assert await world.workspace.bring_in(RUN, world.make_commit({"z": "1\n"}, target)) == ("a", "b")
    archived = [world.files_of(commit)["a"] for ref, commit in world.refs().items() if "/archive/" in ref]
    assert "both\n" in archived


@pytest.mark.parametrize("begun", ["rebase", "cherry-pick", "merge", "revert", "bisect"])
async def test_what_the_agent_began_is_ended_and_nothing_lost(world: GitWorld, begun: str) -> None:
    base = world.make_commit({"a": "1\n"})
    other = world.make_commit({"a": "other\n"}, base)
    path = await open_with(world, base, {"a": "ours\n"})
    done = world.scratch.commit("ours", path)
    if begun == "bisect":
        world.scratch.git("bisect", "start", "HEAD", base, cwd=path)
    else:
        with pytest.raises(RuntimeError):
            world.scratch.git(begun, "HEAD~" if begun == "revert" else other, cwd=path)
    world.write(path, {"a": "settled\n", "b": "unsaved\n"})
    await world.workspace.bring_in(RUN, world.make_commit({"z": "1\n"}, base))
    files = world.files_in(path)
    assert (files["b"], files["z"]) == ("unsaved\n", "1\n")
    assert "settled\n" in files["a"]
    assert world.is_held(done)
    assert "nothing to commit" in world.scratch.git("status", cwd=path)
    assert (await world.workspace.save(RUN, attempt_id(RUN, 1), base)).unresolved == ()


async def test_a_foreign_branch_that_the_agent_went_to_does_not_move(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    world.set_ref("refs/heads/feature", base)
    path = await world.workspace.open(RUN, "whilly/T-1", base)
    world.scratch.git("checkout", "--quiet", "feature", cwd=path)
    world.write(path, {"b": "2\n"})
    await world.workspace.bring_in(RUN, world.make_commit({"z": "1\n"}, base))
    assert world.refs()["refs/heads/feature"] == base
    assert world.files_in(path) == {"a": "1\n", "b": "2\n", "z": "1\n"}


async def test_ignored_files_of_the_workspace_stay(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n", ".gitignore": "cache/\n"})
    path = await open_with(world, base, {"cache/x": "x\n", "b": "2\n"})
    await world.workspace.bring_in(RUN, world.make_commit({"z": "1\n"}, base))
    assert world.files_in(path)["cache/x"] == "x\n"


async def test_an_orphan_of_the_agent_is_merged_too(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await world.workspace.open(RUN, "whilly/T-1", base)
    world.scratch.git("checkout", "--quiet", "--orphan", "fresh", cwd=path)
    world.write(path, {"b": "2\n"})
    world.scratch.commit("fresh", path)
    assert await world.workspace.bring_in(RUN, world.make_commit({"z": "1\n"}, base)) == ()
    assert world.files_in(path) == {"a": "1\n", "b": "2\n", "z": "1\n"}
