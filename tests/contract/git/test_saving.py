from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whilly.domain.errors import Unavailable
from whilly.domain.ids import CommitId, RunId, attempt_id

if TYPE_CHECKING:
    from whilly.domain.change import Saved
    from whilly.testing.git_world import GitWorld

RUN = RunId("run-1")


async def open_at(world: GitWorld, base: CommitId) -> str:
    return await world.workspace.open(RUN, "whilly/T-1", base)


async def save(world: GitWorld, base: CommitId, number: int = 1) -> Saved:
    return await world.workspace.save(RUN, attempt_id(RUN, number), base)


async def test_ignored_files_are_left_out_but_not_those_that_are_tracked(world: GitWorld) -> None:
    base = world.make_commit({".gitignore": "*.log\nbuild/\n", "kept.log": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"kept.log": "2\n", "other.log": "x\n", "build/out": "x\n", "a": "1\n"})
    assert (await save(world, base)).paths == ("a", "kept.log")


async def test_what_the_agent_committed_and_what_it_did_not_are_saved_together(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"b": "committed\n"})
    done = world.scratch.commit("agent", path)
    world.write(path, {"c": "staged\n", "d": "not even staged\n"})
    world.scratch.git("add", "c", cwd=path)
    before = world.scratch.git("status", "--porcelain", cwd=path)
    saved = await save(world, base)
    assert saved.paths == ("b", "c", "d")
    assert world.parents_of(saved.commit) == (done,)
    assert world.scratch.git("status", "--porcelain", cwd=path) == before


async def test_a_clean_workspace_is_saved_as_the_agents_own_commit(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"b": "2\n"})
    done = world.scratch.commit("agent", path)
    assert (await save(world, base)).commit == done


async def test_a_change_in_the_same_moment_and_of_the_same_size_is_seen(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    file, index = Path(path) / "a", world.layout.registration("run-1") / "index"
    world.scratch.git("config", "core.trustctime", "false")
    moment = (10**18, 10**18)
    os.utime(file, ns=moment)
    world.scratch.git("update-index", "--refresh", cwd=path)
    world.write(path, {"a": "2\n"})
    # The file was checked out, put into the index and changed within one tick of the clock.
    os.utime(file, ns=moment)
    os.utime(index, ns=moment)
    assert (await save(world, base)).paths == ("a",)


@pytest.mark.parametrize(
    "name",
    ["-rf", "line\nbreak", "$(id)", "quote\"s'", "back\\slash", "Ёлка 🎄", " lead", ":(exclude)a", "a*b", "tab\t"],
)
async def test_odd_names_are_names(world: GitWorld, name: str) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {name: "x\n"})
    saved = await save(world, base)
    assert saved.paths == (name,)
    assert world.files_of(saved.commit)[name] == "x\n"
    assert await world.repository.changed_paths(base, saved.commit) == (name,)


async def test_a_name_that_is_no_utf8_comes_back_as_the_same_bytes(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    raw = os.fsencode(path) + b"/caf\xe9"
    Path(os.fsdecode(raw)).write_text("x\n")
    saved = await save(world, base)
    assert [name.encode("utf-8", "surrogateescape") for name in saved.paths] == [b"caf\xe9"]


async def test_content_of_any_kind_survives(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n", "mode": "#!/bin/sh\n", "link": "x\n", "dir/file": "x\n"})
    path = await open_at(world, base)
    place = Path(path)
    world.write(path, {"nul": b"\0" * 10, "latin": b"\xe9\n", "crlf": b"a\r\nb\r\n", "empty": "", "link": None})
    (place / "link").symlink_to("/etc/passwd")
    (place / "mode").chmod(0o755)
    shutil.rmtree(place / "dir")
    world.write(path, {"dir": "now a file\n"})
    saved = await save(world, base)
    assert saved.paths == ("crlf", "dir", "dir/file", "empty", "latin", "link", "mode", "nul")
    listed = world.scratch.git("ls-tree", "-r", saved.commit)
    assert "120000 blob" in listed
    assert "100755 blob" in listed
    assert world.scratch.git("cat-file", "blob", f"{saved.commit}:crlf", strip=False) == "a\r\nb\r\n"


async def test_fifos_and_sockets_are_passed_over(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n", "b": "1\n"})
    path = await open_at(world, base)
    os.mkfifo(Path(path) / "pipe")
    (Path(path) / "b").unlink()
    os.mkfifo(Path(path) / "b")
    world.write(path, {"a": "2\n"})
    assert "a" in (await save(world, base)).paths


async def test_a_repository_inside_the_workspace_is_saved_as_files(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"sub/f": "x\n", "sub/.gitignore": "skip\n", "sub/skip": "x\n", "sub/deep/g": "x\n", "b": "1\n"})
    world.scratch.git("init", "--quiet", cwd=f"{path}/sub")
    world.scratch.git("init", "--quiet", cwd=f"{path}/sub/deep")
    world.scratch.git("add", "f", cwd=f"{path}/sub")
    saved = await save(world, base)
    assert saved.paths == ("b", "sub/.gitignore", "sub/deep/g", "sub/f")
    world.scratch.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", cwd=f"{path}/sub")
    world.write(path, {"sub/f": "later\n"})
    assert world.files_of((await save(world, base, 2)).commit)["sub/f"] == "later\n"


async def test_a_repository_that_the_agent_added_by_mistake_is_saved_as_files(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"sub/f": "x\n"})
    world.scratch.git("init", "--quiet", cwd=f"{path}/sub")
    world.scratch.git("add", "f", cwd=f"{path}/sub")
    world.scratch.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", cwd=f"{path}/sub")
    world.scratch.git("add", "sub", cwd=path)
    saved = await save(world, base)
    assert saved.paths == ("sub/f",)


async def test_a_broken_repository_inside_the_workspace_does_not_stop_the_rest(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"sub/f": "x\n", "b": "1\n"})
    world.scratch.git("init", "--quiet", cwd=f"{path}/sub")
    world.write(path, {"sub/.git/config": "[broken\n"})
    saved = await save(world, base)
    assert "b" in saved.paths
    assert "sub/f" in saved.paths or saved.left_out == ("sub",)


def become_somebody_who_may_not_read_everything(world: GitWorld, folder: Path) -> None:
    """Root reads everything: let git run as somebody who does not."""
    if os.geteuid() == 0:
        real = shutil.which("git")
        shim = folder / "bin" / "git"
        shim.parent.mkdir()
        shim.write_text(f'#!/bin/sh\nexec setpriv --bounding-set=-all --inh-caps=-all {real} "$@"\n')
        shim.chmod(0o755)
        world.git._program = str(shim)


def _refuse(*_: object) -> None:
    raise PermissionError


async def test_what_its_owner_may_not_read_is_made_readable_and_saved(world: GitWorld, tmp_path: Path) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"secret": "x\n", "b": "2\n", "closed/deep/c": "3\n"})
    for name in ("secret", "closed/deep", "closed"):
        (Path(path) / name).chmod(0)
    become_somebody_who_may_not_read_everything(world, tmp_path)
    saved = await save(world, base)
    assert (saved.paths, saved.left_out) == (("b", "closed/deep/c", "secret"), ())


async def test_what_cannot_be_read_is_told_and_stays_where_it_is(world: GitWorld, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make files of somebody else")
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"secret": "x\n", "b": "2\n"})
    (Path(path) / "secret").chmod(0)
    os.chown(Path(path) / "secret", 65534, 65534)
    become_somebody_who_may_not_read_everything(world, tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        # Whilly is that somebody, too: the owner alone may change a mode.
        patch.setattr(Path, "chmod", _refuse)
        saved = await save(world, base)
        assert (saved.paths, saved.left_out) == (("b",), ("secret",))
        with pytest.raises(Unavailable, match="secret could not be read and is nowhere but in the workspace"):
            await world.workspace.close(RUN, keep_branch=False)
    assert (Path(path) / "secret").read_text() == "x\n"


async def test_pipes_hold_nothing_and_stop_nothing(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"b": "2\n"})
    os.mkfifo(Path(path) / "pipe")
    saved = await save(world, base)
    assert (saved.paths, saved.left_out) == (("b",), ())


# On another history


async def test_work_on_an_older_commit_takes_nothing_of_the_base_away(world: GitWorld) -> None:
    old = world.make_commit({"README": "1\n"})
    base = world.make_commit({"README": "1\n", "a": "of somebody else\n"}, old)
    path = await open_at(world, base)
    world.scratch.git("switch", "--quiet", "--create", "feature", old, cwd=path)
    world.write(path, {"b": "mine\n"})
    world.scratch.git("add", "b", cwd=path)
    world.scratch.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "mine", cwd=path)
    saved = await save(world, base)
    assert (saved.paths, saved.is_astray) == (("b",), False)
    assert world.files_of(saved.commit) == {"README": "1\n", "a": "of somebody else\n", "b": "mine\n"}
    assert world.parents_of(saved.commit) == (base, CommitId(world.scratch.git("rev-parse", "feature")))
    assert (await save(world, base, 2)).paths == ("b",)


async def test_going_back_is_no_change(world: GitWorld) -> None:
    old = world.make_commit({"README": "1\n"})
    base = world.make_commit({"README": "1\n", "a": "of somebody else\n"}, old)
    path = await open_at(world, base)
    world.scratch.git("reset", "--quiet", "--hard", old, cwd=path)
    assert (await save(world, base)).paths == ()


@pytest.mark.parametrize("is_orphan", [True, False])
async def test_a_history_that_does_not_fit_is_told(world: GitWorld, *, is_orphan: bool) -> None:
    old = world.make_commit({"README": "1\n"})
    base = world.make_commit({"README": "2\n"}, old)
    path = await open_at(world, base)
    if is_orphan:
        world.scratch.git("checkout", "--quiet", "--orphan", "fresh", cwd=path)
    else:
        world.scratch.git("reset", "--quiet", "--hard", old, cwd=path)
    world.write(path, {"README": "3\n"})
    world.scratch.git("add", "--all", cwd=path)
    world.scratch.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "mine", cwd=path)
    saved = await save(world, base)
    assert saved.is_astray
    assert world.files_of(saved.commit)["README"] == "3\n"
    assert world.is_held(saved.commit)


# Submodules


@pytest.fixture
def library(world: GitWorld, tmp_path: Path) -> str:
    """A repository, which the workspace's has as its submodule `lib`; the commit of the workspace's."""
    git = world.scratch.git
    home = tmp_path / "library"
    home.mkdir()
    git("init", "--quiet", "--initial-branch", "main", cwd=str(home))
    world.write(str(home), {"f": "1\n"})
    git("add", "f", cwd=str(home))
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "f", cwd=str(home))
    return str(home)


async def open_with_submodule(world: GitWorld, library: str) -> tuple[str, CommitId]:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    git = world.scratch.git
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "lib", cwd=path)
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "lib", cwd=path)
    return path, CommitId(git("rev-parse", "HEAD", cwd=path))


async def test_an_untouched_submodule_is_no_matter(world: GitWorld, library: str) -> None:
    path, base = await open_with_submodule(world, library)
    world.write(path, {"b": "2\n"})
    saved = await save(world, base)
    assert (saved.paths, saved.stranded) == (("b",), ())
    await world.workspace.close(RUN, keep_branch=False)
    assert not Path(path).exists()


@pytest.mark.parametrize("is_committed", [True, False])
async def test_work_inside_a_submodule_is_told_and_kept(world: GitWorld, library: str, *, is_committed: bool) -> None:
    path, base = await open_with_submodule(world, library)
    world.write(path, {"lib/f": "2\n"})
    git = world.scratch.git
    if is_committed:
        git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "mine", cwd=f"{path}/lib")
        git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "lib", cwd=path)
    assert (await save(world, base)).stranded == ("lib",)
    with pytest.raises(Unavailable, match="work inside lib is nowhere but in the workspace"):
        await world.workspace.close(RUN, keep_branch=False)
    assert (Path(path) / "lib" / "f").read_text() == "2\n"
    if is_committed:
        git("push", "--quiet", "origin", "HEAD:refs/heads/mine", cwd=f"{path}/lib")
        assert (await save(world, base, 2)).stranded == ()
        await world.workspace.close(RUN, keep_branch=False)


async def test_a_broken_index_of_the_agent_does_not_matter(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"b": "2\n"})
    index = world.layout.registration("run-1") / "index"
    index.write_bytes(b"rubbish")
    assert (await save(world, base)).paths == ("b",)
    index.unlink()
    assert (await save(world, base, 2)).paths == ("b",)


async def test_a_lock_file_of_a_killed_git_does_not_matter(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"b": "2\n"})
    (world.layout.registration("run-1") / "index.lock").touch()
    assert (await save(world, base)).paths == ("b",)


async def test_a_detached_head_is_saved(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.scratch.git("checkout", "--quiet", "--detach", cwd=path)
    world.write(path, {"b": "2\n"})
    done = world.scratch.commit("detached", path)
    world.write(path, {"c": "3\n"})
    saved = await save(world, base)
    assert saved.paths == ("b", "c")
    assert world.parents_of(saved.commit) == (done,)


async def test_another_branch_is_saved_and_left_where_it_is(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    world.set_ref("refs/heads/feature", base)
    path = await open_at(world, base)
    world.scratch.git("checkout", "--quiet", "feature", cwd=path)
    world.write(path, {"b": "2\n"})
    assert (await save(world, base)).paths == ("b",)
    assert world.refs()["refs/heads/feature"] == base


async def test_a_branch_without_commits_is_saved(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.scratch.git("checkout", "--quiet", "--orphan", "fresh", cwd=path)
    world.write(path, {"b": "2\n"})
    saved = await save(world, base)
    assert saved.paths == ("b",)
    assert world.parents_of(saved.commit) == ()


async def test_a_merge_under_way_is_saved_with_both_parents(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    other = world.make_commit({"a": "theirs\n"}, base)
    path = await open_at(world, base)
    world.write(path, {"a": "ours\n"})
    done = world.scratch.commit("ours", path)
    with pytest.raises(RuntimeError):
        world.scratch.git("merge", other, cwd=path)
    saved = await save(world, base)
    assert saved.unresolved == ("a",)
    assert world.parents_of(saved.commit) == (done, other)


async def test_a_rebase_under_way_is_saved(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    other = world.make_commit({"a": "theirs\n"}, base)
    path = await open_at(world, base)
    world.write(path, {"a": "ours\n"})
    done = world.scratch.commit("ours", path)
    with pytest.raises(RuntimeError):
        world.scratch.git("rebase", other, cwd=path)
    saved = await save(world, base)
    assert saved.unresolved == ("a",)
    assert world.is_held(done)
    assert (world.layout.registration("run-1") / "rebase-merge").exists()


async def test_markers_that_were_there_before_are_no_conflict(world: GitWorld) -> None:
    text = "How a conflict looks:\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"
    base = world.make_commit({"guide.md": text})
    path = await open_at(world, base)
    world.write(path, {"guide.md": text + "more\n", "title.rst": "Title\n=======\n"})
    assert (await save(world, base)).unresolved == ()
    world.write(path, {"new.py": text})
    assert (await save(world, base, 2)).unresolved == ("new.py",)


async def test_a_half_resolved_text_is_unresolved_also_when_it_was_staged(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"a": "ours\n"})
    await world.workspace.bring_in(RUN, world.make_commit({"a": "theirs\n"}, base))
    world.scratch.git("add", "a", cwd=path)
    assert (await save(world, base)).unresolved == ("a",)


async def test_a_conflict_without_markers_must_be_settled(world: GitWorld) -> None:
    base = world.make_commit({"gone": "1\n", "bin": b"\0base", "kept": "1\n"})
    target = world.make_commit({"gone": None, "bin": b"\0theirs", "kept": None}, base)
    path = await open_at(world, base)
    world.write(path, {"gone": "ours\n", "bin": b"\0ours", "kept": "ours\n"})
    assert await world.workspace.bring_in(RUN, target) == ("bin", "gone", "kept")
    assert (await save(world, base)).unresolved == ("bin", "gone", "kept")
    world.write(path, {"gone": None, "bin": b"\0both"})
    world.scratch.git("add", "kept", cwd=path)
    assert (await save(world, base, 2)).unresolved == ()


async def test_hooks_filters_and_settings_of_the_user_do_not_disturb(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    git = world.scratch.git
    for name in ("pre-commit", "post-checkout", "reference-transaction", "post-index-change"):
        hook = world.scratch.root / ".git" / "hooks" / name
        hook.write_text("#!/bin/sh\ntouch /tmp/never; exit 1\n")
        hook.chmod(0o755)
    for key, value in {
        "commit.gpgsign": "true", "core.safecrlf": "true", "core.autocrlf": "input", "status.showUntrackedFiles": "no",
        "diff.noprefix": "true", "merge.ff": "only", "merge.conflictStyle": "merge", "diff.external": "false",
        "core.quotePath": "true", "status.relativePaths": "false", "color.ui": "always", "core.fsmonitor": "true",
        "user.useConfigOnly": "true", "branch.autoSetupMerge": "always", "diff.renames": "copies", "core.pager": "false"
    }.items():  # fmt: skip
        git("config", key, value)
    path = await open_at(world, base)
    world.write(path, {"b/c": "x\r\ny\n", "ü": "1\n"})
    saved = await save(world, base)
    assert saved.paths == ("b/c", "ü")
    target = world.make_commit({"d": "1\n"}, base)
    assert await world.workspace.bring_in(RUN, target) == ()
    await world.workspace.close(RUN, keep_branch=False)


async def test_a_run_ends_within_few_processes(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await open_at(world, base)
    world.write(path, {"b": "1\n"})
    saved = await save(world, base)
    await world.repository.combine(saved.commit, base, base, "x")
    before = world.git.spawned
    await world.workspace.close(RUN, keep_branch=False)
    assert world.git.spawned - before <= 3
    assert before <= 11
