from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.git.checkouts import remove_spares
from whilly.adapters.git.workspace import GitWorkspace
from whilly.adapters.memory.clock import ManualClock
from whilly.domain.errors import Unavailable
from whilly.domain.ids import RunId, attempt_id

if TYPE_CHECKING:
    from whilly.domain.ids import CommitId
    from whilly.testing.git_world import GitWorld

RUN = RunId("run-1")
BRANCH = "refs/heads/whilly/T-1"


async def open_at(world: GitWorld, base: CommitId) -> str:
    return await world.workspace.open(RUN, "whilly/T-1", base)


def record_of(world: GitWorld) -> Path:
    return world.layout.record(RUN)


async def test_whillys_directory_ignores_itself(world: GitWorld) -> None:
    await open_at(world, world.make_commit({"a": "1\n"}))
    assert world.scratch.git("status", "--porcelain") == ""


async def test_opening_an_open_one_starts_no_process(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    await open_at(world, base)
    before = world.git.spawned
    await open_at(world, base)
    assert world.git.spawned == before


async def test_a_kill_before_anything_was_made_is_made_good(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    world.layout.prepare()
    record_of(world).write_text(json.dumps({"branch": "whilly/T-1", "base": base}))
    assert world.files_in(await open_at(world, base)) == {"a": "1\n"}
    assert await world.workspace.find_branch(RUN) == "whilly/T-1"


async def test_a_kill_after_the_branch_was_made_takes_the_branch(world: GitWorld) -> None:
    base, later = world.make_commit({"a": "1\n"}), world.make_commit({"a": "2\n"})
    world.layout.prepare()
    record_of(world).write_text(json.dumps({"branch": "whilly/T-1", "base": base}))
    world.set_ref(BRANCH, base)
    assert world.files_in(await open_at(world, later)) == {"a": "2\n"}
    assert await world.workspace.find_branch(RUN) == "whilly/T-1"


async def test_a_kill_in_the_middle_of_the_checkout_is_made_good(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n", "b": "1\n"})
    path = await open_at(world, base)
    facts = json.loads(record_of(world).read_text())
    record_of(world).write_text(json.dumps(facts | {"is_ready": False, "name": ""}))
    (Path(path) / "b").unlink()
    (world.layout.registration("run-1") / "index").unlink()
    (world.layout.registration("run-1") / "index.lock").touch()
    (world.layout.registration("run-1") / "locked").write_text("initializing")
    assert world.files_in(await open_at(world, base)) == {"a": "1\n", "b": "1\n"}
    assert await world.workspace.find_branch(RUN) == "whilly/T-1"
    assert world.scratch.git("status", "--porcelain", cwd=path) == ""


async def test_a_registration_without_its_directory_is_no_obstacle(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    shutil.rmtree(path)
    record_of(world).unlink()
    world.scratch.git("worktree", "lock", path)
    assert world.files_in(await open_at(world, base)) == {"a": "1\n"}


async def test_a_workspace_that_somebody_deleted_comes_back_with_its_commits(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"b": "2\n"})
    on_branch = world.scratch.commit("on the branch", path)
    world.scratch.git("checkout", "--quiet", "--detach", cwd=path)
    world.write(path, {"c": "3\n"})
    detached = world.scratch.commit("on no branch", path)
    shutil.rmtree(path)
    assert world.files_in(await open_at(world, base)) == {"a": "1\n", "b": "2\n"}
    assert world.refs()[BRANCH] == on_branch
    assert world.is_held(detached)


async def test_files_survive_the_loss_of_the_git_file(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"b": "unsaved\n"})
    (Path(path) / ".git").unlink()
    saved = await world.workspace.save(RUN, attempt_id(RUN, 1), base)
    assert saved.paths == ("b",)
    assert world.scratch.git("status", "--porcelain") == ""


async def test_files_survive_the_loss_of_gits_directory(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"b": "unsaved\n", "a": "changed\n"})
    shutil.rmtree(world.layout.registration("run-1"))
    assert world.files_in(await open_at(world, base)) == {"a": "changed\n", "b": "unsaved\n"}
    assert (await world.workspace.save(RUN, attempt_id(RUN, 1), base)).paths == ("a", "b")


async def test_a_kill_while_files_were_moved_aside_is_made_good(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = Path(await open_at(world, base))
    world.write(str(path), {"b": "unsaved\n"})
    shutil.rmtree(world.layout.registration("run-1"))
    path.rename(path.with_name("run-1.files"))
    assert world.files_in(await open_at(world, base)) == {"a": "1\n", "b": "unsaved\n"}


async def test_a_repository_that_the_agent_made_in_place_of_ours_is_set_aside(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    (Path(path) / ".git").unlink()
    world.scratch.git("init", "--quiet", cwd=path)
    world.scratch.git(
        "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "-m", "x", cwd=path
    )
    world.write(path, {"b": "2\n"})
    assert (await world.workspace.save(RUN, attempt_id(RUN, 1), base)).paths == ("b",)
    assert [p.name for p in Path(path).parent.glob("run-1.git-*")] == ["run-1.git-1"]


async def test_a_deleted_branch_comes_back_from_what_was_saved(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"b": "2\n"})
    saved = await world.workspace.save(RUN, attempt_id(RUN, 1), base)
    shutil.rmtree(path)
    shutil.rmtree(world.layout.registration("run-1"))
    world.scratch.git("update-ref", "-d", BRANCH)
    assert world.files_in(await open_at(world, base)) == world.files_of(saved.commit)


async def test_a_lost_record_loses_nothing(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"b": "unsaved\n"})
    record_of(world).write_text("{broken")
    assert world.files_in(await open_at(world, base)) == {"a": "1\n", "b": "unsaved\n"}
    assert await world.workspace.find_branch(RUN) == "whilly/T-1"


async def test_a_directory_in_the_way_is_moved_not_deleted(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    world.layout.prepare()
    place = world.layout.workspace(RUN)
    world.write(str(place), {"mine": "1\n"})
    assert world.files_in(await open_at(world, base)) == {"a": "1\n"}
    assert (place.with_name("run-1.lost-1") / "mine").read_text() == "1\n"


async def test_a_repository_that_was_moved_finds_its_workspaces(world: GitWorld, tmp_path: Path) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"b": "unsaved\n"})
    moved = tmp_path / "moved"
    world.scratch.root.rename(moved)
    layout = type(world.layout)(moved, moved / ".whilly")
    workspace = GitWorkspace(world.git, layout, ManualClock())
    assert world.files_in(await workspace.open(RUN, "whilly/T-1", base)) == {"a": "1\n", "b": "unsaved\n"}
    assert (await workspace.save(RUN, attempt_id(RUN, 1), base)).paths == ("b",)


@pytest.mark.parametrize("taken", ["whilly", "whilly/T-1", "whilly/T-1/deeper", "whilly/t-1"])
async def test_a_name_that_is_taken_gives_way(world: GitWorld, taken: str) -> None:
    base, foreign = world.make_commit({"a": "1\n"}), world.make_commit({"b": "1\n"})
    world.set_ref(f"refs/heads/{taken}", foreign)
    await open_at(world, base)
    name = await world.workspace.find_branch(RUN)
    assert world.refs()[f"refs/heads/{taken}"] == foreign
    assert world.refs()[f"refs/heads/{name}"] == base


async def test_many_runs_open_at_once(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    runs = [RunId(f"run-{number}") for number in range(8)]
    paths = await asyncio.gather(*(world.workspace.open(run, "whilly/T-1", base) for run in runs))
    assert len(set(paths)) == 8
    assert len({await world.workspace.find_branch(run) for run in runs}) == 8
    await asyncio.gather(*(world.workspace.close(run, keep_branch=False) for run in runs))
    assert not [ref for ref in world.refs() if ref.startswith("refs/heads/whilly/")]


async def test_closing_holds_what_was_only_in_the_reflog(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"b": "2\n"})
    dropped = world.scratch.commit("dropped later", path)
    world.scratch.git("reset", "--quiet", "--hard", base, cwd=path)
    await world.workspace.close(RUN, keep_branch=False)
    assert world.is_held(dropped)


async def test_closing_holds_a_detached_head(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.scratch.git("checkout", "--quiet", "--detach", cwd=path)
    world.write(path, {"b": "2\n"})
    detached = world.scratch.commit("on no branch", path)
    await world.workspace.close(RUN, keep_branch=False)
    assert world.is_held(detached)


async def test_a_kept_branch_shows_the_work_also_when_the_agent_left_it(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.scratch.git("checkout", "--quiet", "--detach", cwd=path)
    world.write(path, {"b": "2\n"})
    world.scratch.commit("on no branch", path)
    world.write(path, {"c": "3\n"})
    await world.workspace.close(RUN, keep_branch=True)
    assert world.files_of(world.refs()[BRANCH]) == {"a": "1\n", "b": "2\n", "c": "3\n"}


async def test_closing_holds_a_branch_that_the_agent_left(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"b": "2\n"})
    first = world.scratch.commit("on ours", path)
    world.scratch.git("checkout", "--quiet", "-b", "agents-own", base, cwd=path)
    world.write(path, {"c": "3\n"})
    second = world.scratch.commit("on its own", path)
    world.write(path, {"d": "4\n"})
    await world.workspace.close(RUN, keep_branch=False)
    assert world.is_held(first)
    assert world.refs()["refs/heads/agents-own"] == second
    archived = [world.files_of(commit) for ref, commit in world.refs().items() if "/archive/" in ref]
    assert {"a": "1\n", "c": "3\n", "d": "4\n"} in archived


async def test_a_branch_that_somebody_else_looks_at_is_left_alone(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.scratch.git("checkout", "--quiet", "--detach", cwd=path)
    world.scratch.git("checkout", "--quiet", "whilly/T-1")
    world.write(path, {"b": "2\n"})
    await world.workspace.close(RUN, keep_branch=False)
    assert world.refs()[BRANCH] == base
    assert world.scratch.git("status", "--porcelain") == ""


async def test_a_change_after_saving_is_held_when_closing(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n", ".gitignore": "*.log\n"})
    path = await open_at(world, base)
    world.write(path, {"b": "2\n"})
    await world.workspace.save(RUN, attempt_id(RUN, 1), base)
    world.write(path, {"x.log": "forced\n"})
    world.scratch.git("add", "--force", "x.log", cwd=path)
    await world.workspace.close(RUN, keep_branch=False)
    assert any("x.log" in world.files_of(commit) for ref, commit in world.refs().items() if "/archive/" in ref)


async def test_a_kill_after_the_checkout_was_removed_ends_in_the_same(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"b": "2\n"})
    saved = await world.workspace.save(RUN, attempt_id(RUN, 1), base)
    world.layout.discard(Path(path))
    await world.workspace.close(RUN, keep_branch=False)
    assert BRANCH not in world.refs()
    assert world.is_held(saved.commit)
    assert not record_of(world).exists()


async def test_read_only_directories_and_own_repositories_are_removed(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"cache/mod/f": "x\n", "sub/f": "x\n"})
    world.scratch.git("init", "--quiet", cwd=f"{path}/sub")
    (Path(path) / "cache" / "mod").chmod(0o555)
    await world.workspace.close(RUN, keep_branch=True)
    assert not Path(path).exists()


async def test_the_users_checkout_index_and_changes_stay_as_they_are(world: GitWorld) -> None:
    git = world.scratch.git
    world.write(str(world.scratch.root), {"README.md": "edited\n", "staged": "x\n", "untracked": "x\n"})
    git("add", "staged")
    before = (git("status", "--porcelain=v2", "--branch"), git("stash", "list"), git("worktree", "list").count("\n"))
    base = world.refs()["refs/heads/main"]
    path = await open_at(world, base)
    world.write(path, {"README.md": "ours\n"})
    saved = await world.workspace.save(RUN, attempt_id(RUN, 1), base)
    await world.workspace.bring_in(RUN, world.make_commit({"README.md": "theirs\n"}, base))
    checkout = await world.repository.checkout(saved.commit, "look")
    assert world.files_in(checkout)["README.md"] == "ours\n"
    await world.repository.discard("look")
    remove_spares(world.layout)
    await world.workspace.close(RUN, keep_branch=False)
    after = (git("status", "--porcelain=v2", "--branch"), git("stash", "list"), git("worktree", "list").count("\n"))
    assert after == before


async def test_a_lock_of_another_git_is_waited_for_and_a_stale_one_removed(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"b": "2\n"})
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)

    world.git._pause = pause
    lock = world.layout.registration("run-1") / "index.lock"
    lock.touch()
    assert await world.workspace.bring_in(RUN, world.make_commit({"c": "3\n"}, base)) == ()
    assert sum(waits) >= 3
    assert not lock.exists()


async def test_the_users_own_lock_is_never_removed(world: GitWorld) -> None:
    async def pause(_seconds: float) -> None:
        return

    world.git._pause = pause
    commit = world.make_commit({"a": "1\n"})
    lock = world.scratch.root / ".git" / "packed-refs.lock"
    world.set_ref("refs/heads/topic", commit)
    world.scratch.git("pack-refs", "--all")
    lock.touch()
    with pytest.raises(Unavailable, match=r"packed-refs\.lock"):
        await world.git.run(world.scratch.root, "-c", "core.packedRefsTimeout=10", "pack-refs", "--all")
    assert lock.exists()
