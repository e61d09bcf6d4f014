from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.git.command import Git
from whilly.adapters.git.inspection import detect_base, find_layout, list_notes, list_own, require_git
from whilly.domain.errors import ConfigError
from whilly.domain.ids import RunId, attempt_id

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.testing.git_world import GitWorld


async def test_a_repository_is_found_from_below(world: GitWorld) -> None:
    below = world.scratch.root / "a" / "b"
    below.mkdir(parents=True)
    layout = await find_layout(world.git, below)
    assert (layout.root, layout.state) == (world.scratch.root, world.scratch.root / ".whilly")
    assert layout.shared_dir == world.scratch.root / ".git"


async def test_outside_of_git_it_says_how_to_begin(world: GitWorld, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(ConfigError, match="not in a git repository") as caught:
        await find_layout(world.git, tmp_path / "plain")
    assert "git init" in caught.value.remedy


@pytest.mark.parametrize("place", ["bare", "repo/.git"])
async def test_a_bare_repository_is_refused(world: GitWorld, tmp_path: Path, place: str) -> None:
    world.scratch.git("init", "--quiet", "--bare", str(tmp_path / "bare"))
    with pytest.raises(ConfigError, match="bare"):
        await find_layout(world.git, tmp_path / place)


async def test_a_repository_without_commits_is_refused(world: GitWorld, tmp_path: Path) -> None:
    world.scratch.git("init", "--quiet", str(tmp_path / "fresh"))
    with pytest.raises(ConfigError, match="no commit") as caught:
        await find_layout(world.git, tmp_path / "fresh")
    assert "git commit" in caught.value.remedy


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
async def test_a_repository_of_somebody_else_is_refused_with_the_mending_command(world: GitWorld) -> None:
    root = world.scratch.root
    for path in (root, root / ".git"):
        os.chown(path, 65534, 65534)
    with pytest.raises(ConfigError, match="dubious ownership") as caught:
        await find_layout(world.git, root)
    assert caught.value.remedy == f"git config --global --add safe.directory {root}"


async def test_an_old_or_missing_git_is_refused(tmp_path: Path) -> None:
    old = tmp_path / "git"
    old.write_text("#!/bin/sh\necho git version 2.37.9\n")
    old.chmod(0o755)
    with pytest.raises(ConfigError, match=r"2\.37\.9, at least 2\.38"):
        await require_git(Git(env={"PATH": os.defpath}, program=str(old)), tmp_path)
    with pytest.raises(ConfigError, match="not found"):
        await require_git(Git(env={"PATH": os.defpath}, program="no-git-here"), tmp_path)
    assert await require_git(Git(env={"PATH": os.defpath}), tmp_path) >= (2, 38)


async def test_the_base_is_the_remotes_default_then_the_current_branch_then_a_usual_name(world: GitWorld) -> None:
    git, root = world.scratch.git, world.scratch.root
    assert await detect_base(world.git, root) == "main"
    git("branch", "develop")
    git("update-ref", "refs/remotes/origin/develop", "HEAD")
    git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/develop")
    assert await detect_base(world.git, root) == "develop"
    git("symbolic-ref", "--delete", "refs/remotes/origin/HEAD")
    git("checkout", "--quiet", "-b", "topic")
    assert await detect_base(world.git, root) == "topic"
    git("checkout", "--quiet", "--detach")
    assert await detect_base(world.git, root) == "main"
    git("branch", "--quiet", "--move", "main", "odd")
    git("branch", "--quiet", "--delete", "--force", "develop", "topic")
    with pytest.raises(ConfigError, match="detached"):
        await detect_base(world.git, root)


async def test_an_ordinary_repository_has_nothing_to_note(world: GitWorld) -> None:
    assert await list_notes(world.git, world.layout) == []


async def test_what_is_unusual_is_noted(world: GitWorld) -> None:
    root = world.scratch.root
    world.write(str(root), {".gitmodules": "", ".gitattributes": "*.bin filter=lfs diff=lfs\n"})
    world.scratch.git("config", "core.sparseCheckout", "true")
    (root / ".git" / "shallow").write_text(world.scratch.git("rev-parse", "HEAD") + "\n")
    notes = await list_notes(world.git, world.layout)
    assert [word for word in ("shallow", "sparse", "submodules", "LFS") if word not in "".join(notes)] == []


async def test_what_is_whillys_own_is_listed(world: GitWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    path = await world.workspace.open(RunId("run-1"), "whilly/T-1", base)
    await world.workspace.save(RunId("run-1"), attempt_id(RunId("run-1"), 1), base)
    world.scratch.git("worktree", "add", "--quiet", str(world.scratch.root.parent / "users-own"))
    own = await list_own(world.git, world.layout)
    assert own.worktrees == (path,)
    assert own.branches == ("whilly/T-1",)
    assert own.refs == ("refs/whilly/wip/run-1/1",)
