from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.adapters.git.checkouts import MAX_SPARES, remove_spares

if TYPE_CHECKING:
    from whilly.testing.git_world import GitWorld


def inode(path: str) -> int:
    return Path(path).stat().st_ino


async def test_a_discarded_checkout_is_used_again_and_is_as_clean_as_a_new_one(world: GitWorld) -> None:
    first = world.make_commit({"a": "1\n", "gone": "1\n", ".gitignore": "cache/\n", "kept": "1\n", "swap": "1\n"})
    second = world.make_commit({"a": "2\n", "gone": None, "new": "1\n", "swap": None, "swap/in": "1\n"}, first)
    path = await world.repository.checkout(first, "one")
    number = inode(path)
    world.write(path, {"cache/x": "x\n", "stray/y": "y\n", "kept": "2\n", "sub/f": "x\n", "gone": None})
    (Path(path) / "empty" / "dir").mkdir(parents=True)
    world.scratch.git("checkout", "--quiet", "-b", "made-by-a-check", cwd=path)
    world.write(path, {"new": "committed by a check\n"})
    made = world.scratch.commit("by a check", path)
    world.write(path, {"kept": "3\n", "other/f": "x\n"})
    world.scratch.git("init", "--quiet", cwd=f"{path}/other")
    await world.repository.discard("one")
    path = await world.repository.checkout(second, "two")
    assert inode(path) == number
    assert world.files_in(path) == world.files_of(second)
    assert not (Path(path) / "empty").exists()
    assert world.scratch.git("status", "--porcelain", "--ignored", cwd=path) == ""
    assert world.scratch.git("rev-parse", "HEAD", cwd=path) == second
    assert world.refs()["refs/heads/made-by-a-check"] == made


async def test_a_change_that_hides_its_time_does_not_stay(world: GitWorld, tmp_path: Path) -> None:
    commit = world.make_commit({"a": "1\n"})
    file = Path(await world.repository.checkout(commit, "one")) / "a"
    state = file.stat()
    # Git may be built to look at whole seconds only.
    for _ in range(200):
        (tmp_path / "tick").touch()
        if int((tmp_path / "tick").stat().st_ctime) > int(state.st_ctime):
            break
        await asyncio.sleep(0.01)
    file.write_text("2\n")
    os.utime(file, ns=(state.st_mtime_ns, state.st_mtime_ns))
    later = state.st_mtime_ns + 10**10
    os.utime(world.layout.registration("one") / "index", ns=(later, later))
    world.scratch.git("config", "core.trustctime", "false")
    await world.repository.discard("one")
    assert world.files_in(await world.repository.checkout(commit, "two")) == {"a": "1\n"}


async def test_pipes_and_unfinished_business_are_not_handed_on(world: GitWorld) -> None:
    commit = world.make_commit({"a": "1\n"})
    path = await world.repository.checkout(commit, "one")
    os.mkfifo(Path(path) / "pipe")
    await world.repository.discard("one")
    path = await world.repository.checkout(commit, "two")
    assert sorted(entry.name for entry in Path(path).iterdir()) == [".git", "a"]
    world.scratch.git("bisect", "start", cwd=path)
    await world.repository.discard("two")
    path = await world.repository.checkout(commit, "three")
    assert "bisect" not in world.scratch.git("status", cwd=path)


async def test_new_attributes_are_applied_to_all_files(world: GitWorld) -> None:
    first = world.make_commit({"a": "1\n", "b": "1\n"})
    second = world.make_commit({".gitattributes": "* text eol=crlf\n"}, first)
    await world.repository.checkout(first, "one")
    await world.repository.discard("one")
    path = await world.repository.checkout(second, "two")
    assert (Path(path) / "a").read_bytes() == b"1\r\n"


async def test_only_a_few_are_kept_and_many_can_be_used_at_once(world: GitWorld) -> None:
    commits = [world.make_commit({"a": f"{number}\n"}) for number in range(MAX_SPARES + 3)]
    for _ in range(2):
        names = [f"c{number}" for number in range(len(commits))]
        paths = await asyncio.gather(*map(world.repository.checkout, commits, names))
        assert [world.files_in(path)["a"] for path in paths] == [f"{number}\n" for number in range(len(commits))]
        await asyncio.gather(*map(world.repository.discard, names))
    left = [entry.name for entry in (world.layout.state / "checkouts").iterdir()]
    assert len(left) == MAX_SPARES
    assert len(world.scratch.git("worktree", "list").splitlines()) == 1 + MAX_SPARES
    remove_spares(world.layout)
    assert len(world.scratch.git("worktree", "list").splitlines()) == 1


async def test_a_broken_spare_is_no_obstacle(world: GitWorld) -> None:
    commit = world.make_commit({"a": "1\n"})
    path = await world.repository.checkout(commit, "one")
    await world.repository.discard("one")
    spare = Path(path).with_name(".spare-0")
    (spare / ".git").write_text("gitdir: /nowhere\n")
    assert world.files_in(await world.repository.checkout(commit, "two")) == {"a": "1\n"}
