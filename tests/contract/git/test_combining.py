from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.memory.clock import ManualClock
from whilly.domain.change import Combined, Conflicted
from whilly.testing.git_world import GitWorld

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.domain.ids import CommitId


async def combine(world: GitWorld, commit: CommitId, base: CommitId, target: CommitId) -> Combined | Conflicted:
    return await world.repository.combine(commit, base, target, "change")


def link_in(world: GitWorld, mode: str, name: str, content: str, base: CommitId) -> CommitId:
    """A commit on `base` in which `name` has another mode: a link, a submodule, an executable file."""
    git = world.scratch.git
    env = {"GIT_INDEX_FILE": str(world.scratch.home / "index2")}
    git("read-tree", base, env=env)
    blob = base if mode == "160000" else git("hash-object", "-w", "--stdin", stdin=content.encode())
    git("update-index", "--add", "--cacheinfo", f"{mode},{blob},{name}", env=env)
    commit = git("commit-tree", git("write-tree", env=env), "-p", base, "-m", "made")
    return type(base)(commit)


async def test_changes_of_different_lines_of_one_file_fit(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n2\n3\n4\n5\n6\n7\n"})
    commit = world.make_commit({"a": "one\n2\n3\n4\n5\n6\n7\n"}, base)
    target = world.make_commit({"a": "1\n2\n3\n4\n5\n6\nseven\n"}, base)
    combined = await combine(world, commit, base, target)
    assert isinstance(combined, Combined)
    assert world.files_of(combined.commit) == {"a": "one\n2\n3\n4\n5\n6\nseven\n"}


async def test_a_change_follows_a_file_that_was_renamed(world: GitWorld) -> None:
    text = "".join(f"line {number}\n" for number in range(30))
    base = world.make_commit({"old": text})
    commit = world.make_commit({"old": text.replace("line 3\n", "line three\n")}, base)
    target = world.make_commit({"old": None, "new": text}, base)
    combined = await combine(world, commit, base, target)
    assert isinstance(combined, Combined)
    assert list(world.files_of(combined.commit)) == ["new"]


async def test_a_conflict_of_binary_files_is_told(world: GitWorld) -> None:
    base = world.make_commit({"a": b"\0base"})
    result = await combine(
        world, world.make_commit({"a": b"\0ours"}, base), base, world.make_commit({"a": b"\0theirs"}, base)
    )
    assert isinstance(result, Conflicted)
    assert result.paths == ("a",)
    assert "a" in result.detail


async def test_two_renames_of_one_file_conflict(world: GitWorld) -> None:
    text = "".join(f"line {number}\n" for number in range(30))
    base = world.make_commit({"old": text})
    commit = world.make_commit({"old": None, "ours": text}, base)
    result = await combine(world, commit, base, world.make_commit({"old": None, "theirs": text}, base))
    assert isinstance(result, Conflicted)
    assert set(result.paths) == {"old", "ours", "theirs"}


async def test_a_file_against_a_directory_conflicts(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    commit = world.make_commit({"x": "a file\n"}, base)
    result = await combine(world, commit, base, world.make_commit({"x/y": "in a directory\n"}, base))
    assert isinstance(result, Conflicted)
    assert any(path.startswith("x") for path in result.paths)


@pytest.mark.parametrize("mode", ["160000", "120000"])
async def test_submodules_and_links_conflict_like_files(world: GitWorld, mode: str) -> None:
    base = world.make_commit({"a": "1\n"})
    commit = link_in(world, mode, "thing", "ours", base)
    result = await combine(world, commit, base, world.make_commit({"thing": "a file\n"}, base))
    assert isinstance(result, Conflicted)
    assert any("thing" in path for path in result.paths)


async def test_a_change_of_mode_alone_is_carried_over(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    commit = link_in(world, "100755", "a", "1\n", base)
    combined = await combine(world, commit, base, world.make_commit({"b": "2\n"}, base))
    assert isinstance(combined, Combined)
    assert not combined.is_empty
    assert "100755" in world.scratch.git("ls-tree", combined.commit, "a")


async def test_odd_names_in_conflict_come_whole(world: GitWorld) -> None:
    name = "line\nbreak \udce9 -x"
    base = world.make_commit({name: "1\n"})
    result = await combine(
        world, world.make_commit({name: "ours\n"}, base), base, world.make_commit({name: "theirs\n"}, base)
    )
    assert isinstance(result, Conflicted)
    assert result.paths == (name,)


async def test_an_orphan_of_the_agent_is_compared_with_the_base(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n", "b": "1\n"})
    orphan = world.make_commit({"a": "ours\n", "b": "1\n"})
    combined = await combine(world, orphan, base, world.make_commit({"b": "theirs\n"}, base))
    assert isinstance(combined, Combined)
    assert world.files_of(combined.commit) == {"a": "ours\n", "b": "theirs\n"}


async def test_the_commit_is_the_users_at_the_clocks_time(tmp_path: Path) -> None:
    world = GitWorld(tmp_path, ManualClock(datetime(2026, 3, 1, 12, tzinfo=UTC)))
    base = world.make_commit({"a": "1\n"})
    combined = await combine(world, world.make_commit({"a": "2\n"}, base), base, base)
    assert isinstance(combined, Combined)
    shown = world.scratch.git("show", "--no-patch", "--format=%an <%ae> %aI|%cn <%ce> %cI", combined.commit)
    who = "Ada <ada@example.org> 2026-03-01T12:00:00+00:00"
    assert shown == f"{who}|{who}"


@pytest.mark.parametrize(("name", "email"), [(None, None), ("", "a@b"), (" <>. ", "a@b")])
async def test_without_a_user_whilly_signs_itself(world: GitWorld, name: str | None, email: str | None) -> None:
    base = world.make_commit({"a": "1\n"})
    commit = world.make_commit({"a": "2\n"}, base)
    for key, value in (("user.name", name), ("user.email", email)):
        world.scratch.git(*(("config", "--unset", key) if value is None else ("config", key, value)))
    combined = await combine(world, commit, base, base)
    assert isinstance(combined, Combined)
    assert world.scratch.git("show", "-s", "--format=%an <%ae>", combined.commit) == "Whilly <whilly@localhost>"


async def test_nothing_in_a_message_is_taken_for_an_option_or_stops_it(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    commit = world.make_commit({"a": "2\n"}, base)
    for message in ("-F /etc/passwd", "nul\0inside", "\udce9 surrogate", "#hash", "", "  \n"):
        combined = await world.repository.combine(commit, base, base, message)
        assert isinstance(combined, Combined)
        assert "root:" not in world.message_of(combined.commit)


async def test_a_branch_behind_a_symbolic_one_is_guarded_too(world: GitWorld) -> None:
    git = world.scratch.git
    before = world.refs()["refs/heads/main"]
    git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    assert await world.repository.checked_out_at("alias") == str(world.scratch.root)
    git("symbolic-ref", "refs/heads/other", "refs/heads/topic")
    world.set_ref("refs/heads/topic", before)
    new = world.make_commit({"a": "1\n"}, before)
    assert await world.repository.advance("other", new, before)
    assert world.refs()["refs/heads/topic"] == new


async def test_a_packed_branch_moves_like_any_other(world: GitWorld) -> None:
    first = world.make_commit({"a": "1\n"})
    world.set_ref("refs/heads/topic", first)
    world.scratch.git("pack-refs", "--all", "--prune")
    second = world.make_commit({"a": "2\n"}, first)
    assert not await world.repository.advance("topic", second, second)
    assert await world.repository.advance("topic", second, first)
    assert world.refs()["refs/heads/topic"] == second


async def test_a_branch_that_is_being_rebased_counts_as_checked_out(world: GitWorld, tmp_path: Path) -> None:
    git = world.scratch.git
    base = world.make_commit({"a": "1\n"})
    world.set_ref("refs/heads/topic", world.make_commit({"a": "ours\n"}, base))
    other = world.make_commit({"a": "theirs\n"}, base)
    git("worktree", "add", "--quiet", str(tmp_path / "elsewhere"), "topic")
    with pytest.raises(RuntimeError):
        git("rebase", other, cwd=tmp_path / "elsewhere")
    assert await world.repository.checked_out_at("topic") == str(tmp_path / "elsewhere")


async def test_a_checkout_in_a_linked_work_tree_counts(world: GitWorld, tmp_path: Path) -> None:
    git = world.scratch.git
    git("worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "elsewhere"))
    assert await world.repository.checked_out_at("topic") == str(tmp_path / "elsewhere")
    inside = type(world.layout)(tmp_path / "elsewhere", tmp_path / "elsewhere" / ".whilly")
    assert inside.shared_dir == world.layout.shared_dir


async def test_a_half_made_checkout_is_made_again(world: GitWorld) -> None:
    commit = world.make_commit({"a": "1\n", "b": "1\n"})
    path = await world.repository.checkout(commit, "look")
    world.write(path, {"a": None, ".git": None})
    assert world.files_in(await world.repository.checkout(commit, "look")) == {"a": "1\n", "b": "1\n"}
    assert world.scratch.git("rev-parse", "HEAD", cwd=path) == commit
