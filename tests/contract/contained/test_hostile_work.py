"""What a hostile agent leaves in its checkout, and in place of its bundle: nothing of it runs or reaches the host."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.git.command import Git
from whilly.adapters.git.contained.bundle import Quarantine
from whilly.adapters.git.contained.mirror import Mirror
from whilly.adapters.git.contained.policy import GitPolicy
from whilly.adapters.git.contained.tier import HARDENED
from whilly.domain.errors import BadResponse, NotFound
from whilly.domain.ids import CommitId, RunId, attempt_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from whilly.domain.change import Saved
    from whilly.testing.contained_world import ContainedWorld

RUN = RunId("run-1")
HOOKS = (
    "applypatch-msg", "post-checkout", "post-commit", "post-index-change", "post-merge", "pre-auto-gc", "pre-commit",
    "pre-push", "prepare-commit-msg", "reference-transaction", "update", "post-rewrite", "fsmonitor-watchman",
)  # fmt: skip


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A file that exists once code of the agent's has run on the host."""
    return tmp_path / "canary"


def plant_script(tree: Path, canary: Path) -> Path:
    script = tree / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {canary}\ncat\n", encoding="utf-8")
    script.chmod(0o755)
    return script


def configure(git_dir: Path, text: str) -> None:
    with (git_dir / "config").open("a", encoding="utf-8") as file:
        file.write(text)


def poison_hooks(tree: Path, canary: Path) -> None:
    script = plant_script(tree, canary)
    (tree / ".git" / "hooks").mkdir(exist_ok=True)
    for name in HOOKS:
        (tree / ".git" / "hooks" / name).symlink_to(script)


def poison_hooks_path(tree: Path, canary: Path) -> None:
    script = plant_script(tree, canary)
    (tree / "h").mkdir()
    for name in HOOKS:
        (tree / "h" / name).symlink_to(script)
    configure(tree / ".git", f"[core]\n\thooksPath = {tree}/h\n")


def poison_fsmonitor(tree: Path, canary: Path) -> None:
    configure(tree / ".git", f"[core]\n\tfsmonitor = {plant_script(tree, canary)}\n")


def poison_filter(tree: Path, canary: Path) -> None:
    script = plant_script(tree, canary)
    (tree / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n", encoding="utf-8")
    configure(
        tree / ".git",
        f'[filter "evil"]\n\tclean = {script}\n\tsmudge = {script}\n\trequired = true\n'
        f'[diff "evil"]\n\ttextconv = {script}\n\tcommand = {script}\n[merge "evil"]\n\tdriver = {script}\n'
        f"[diff]\n\texternal = {script}\n",
    )


def poison_include(tree: Path, canary: Path) -> None:
    script = plant_script(tree, canary)
    (tree / "more").write_text(f"[core]\n\tfsmonitor = {script}\n\tsshCommand = {script}\n", encoding="utf-8")
    configure(tree / ".git", f"[include]\n\tpath = {tree}/more\n")


def poison_worktree_config(tree: Path, canary: Path) -> None:
    configure(tree / ".git", "[extensions]\n\tworktreeConfig = true\n[core]\n\trepositoryformatversion = 1\n")
    (tree / ".git" / "config.worktree").write_text(
        f"[core]\n\tfsmonitor = {plant_script(tree, canary)}\n", encoding="utf-8"
    )


def poison_gitfile(tree: Path, canary: Path) -> None:
    (tree / ".git").rename(tree / "real")
    (tree / ".git").write_text(f"gitdir: {tree}/real\n", encoding="utf-8")
    configure(tree / "real", f"[core]\n\tfsmonitor = {plant_script(tree, canary)}\n")


def poison_commondir(tree: Path, canary: Path) -> None:
    other = tree / "other"
    subprocess.run(["git", "clone", "--quiet", "--bare", str(tree), str(other)], check=True, capture_output=True)
    configure(other, f"[core]\n\tbare = false\n\tfsmonitor = {plant_script(tree, canary)}\n")
    (tree / ".git" / "commondir").write_text(f"{other}\n", encoding="utf-8")


def poison_nested(tree: Path, canary: Path) -> None:
    nested = tree / "nested"
    subprocess.run(["git", "init", "--quiet", str(nested)], check=True)
    (nested / "file").write_text("nested\n", encoding="utf-8")
    configure(nested / ".git", f"[core]\n\tfsmonitor = {plant_script(tree, canary)}\n")


POISONS = (
    poison_hooks, poison_hooks_path, poison_fsmonitor, poison_filter, poison_include, poison_worktree_config,
    poison_gitfile, poison_commondir, poison_nested,
)  # fmt: skip


async def live_through(world: ContainedWorld, base: CommitId) -> Saved:
    """Everything that Whilly does with a checkout after an agent has been in it."""
    target = world.make_commit({"c": "3\n"}, base)
    await world.workspace.open(RUN, "whilly/T-1", base)
    saved = await world.workspace.save(RUN, attempt_id(RUN, 1), base)
    place = await world.repository.checkout(saved.commit, "check-1")
    assert "c" not in world.files_in(place)
    await world.repository.discard("check-1")
    await world.workspace.bring_in(RUN, target)
    await world.workspace.save(RUN, attempt_id(RUN, 2), base)
    await world.workspace.close(RUN, keep_branch=True)
    return saved


@pytest.mark.parametrize("poison", POISONS)
async def test_nothing_that_an_agent_puts_into_its_repository_runs(
    world: ContainedWorld, canary: Path, poison: Callable[[Path, Path], None]
) -> None:
    base = world.make_commit({"a": "1\n"})
    tree = Path(await world.workspace.open(RUN, "whilly/T-1", base))
    poison(tree, canary)
    world.write(tree, {"a": "2\n"})
    saved = await live_through(world, base)
    assert "a" in saved.paths
    assert not canary.exists()


def look_with_git(tree: Path, poison: Callable[[Path, Path], None]) -> None:
    """What a person's git does in such a checkout."""
    folder = tree / "nested" if poison is poison_nested else tree
    for words in (("status",), ("diff",), ("add", "--all"), ("commit", "--quiet", "--message", "x")):
        names = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "safe.directory=*"]
        subprocess.run(["git", *names, *words], cwd=folder, check=False, capture_output=True)


@pytest.mark.parametrize("poison", POISONS)
async def test_each_of_these_runs_where_git_opens_such_a_repository(
    world: ContainedWorld, canary: Path, poison: Callable[[Path, Path], None]
) -> None:
    base = world.make_commit({"a": "1\n"})
    tree = Path(await world.workspace.open(RUN, "whilly/T-1", base))
    poison(tree, canary)
    world.write(tree, {"a": "2\n"})
    look_with_git(tree, poison)
    assert canary.exists()


@pytest.mark.parametrize("poison", POISONS)
async def test_a_person_gets_the_work_without_any_of_these(
    world: ContainedWorld, canary: Path, poison: Callable[[Path, Path], None]
) -> None:
    base = world.make_commit({"a": "1\n"})
    tree = Path(await world.workspace.open(RUN, "whilly/T-1", base))
    poison(tree, canary)
    world.write(tree, {"a": "2\n"})
    await world.workspace.renew(RUN)
    world.write(tree, {"a": "3\n"})
    look_with_git(tree, poison)
    assert not canary.exists()
    assert "a" in (await world.workspace.save(RUN, attempt_id(RUN, 2), base)).paths


async def test_a_checkout_has_no_remote_and_no_other_branch(world: ContainedWorld) -> None:
    secret = world.make_commit({"secret": "x\n"})
    world.set_ref("refs/heads/secret", secret)
    base = world.make_commit({"a": "1\n"})
    tree = await world.workspace.open(RUN, "whilly/T-1", base)
    git = world.scratch.git
    assert git("remote", cwd=tree) == ""
    assert git("for-each-ref", "--format=%(refname)", cwd=tree) == "refs/heads/whilly/T-1"
    listed = git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)", cwd=tree).split()
    assert base in listed
    assert secret not in listed


async def test_addresses_that_the_agent_diverts_lead_nothing_elsewhere(world: ContainedWorld, tmp_path: Path) -> None:
    git = world.scratch.git
    evil, meant = tmp_path / "evil.git", tmp_path / "meant.git"
    git("init", "--quiet", "--bare", str(evil))
    base = world.make_commit({"a": "1\n"})
    tree = Path(await world.workspace.open(RUN, "whilly/T-1", base))
    places = (meant, world.scratch.root, world.places.mirror)
    bent = "".join(f"\tinsteadOf = {start}{place}\n" for place in places for start in ("", "file://"))
    configure(tree / ".git", f'[url "{evil}"]\n{bent}[remote "origin"]\n\turl = {evil}\n')
    git("push", "--quiet", str(meant), "HEAD:refs/heads/stolen", cwd=tree)
    assert git("for-each-ref", "--format=%(refname)", cwd=evil) == "refs/heads/stolen"
    git("update-ref", "-d", "refs/heads/stolen", cwd=evil)
    world.write(str(tree), {"a": "2\n"})
    saved = await live_through(world, base)
    assert world.files_of(saved.commit)["a"] == "2\n"
    assert git("for-each-ref", cwd=evil) == ""
    with pytest.raises(RuntimeError):
        git("cat-file", "-e", saved.commit, cwd=evil)


async def test_objects_of_another_repository_do_not_come_in(world: ContainedWorld, tmp_path: Path) -> None:
    private = tmp_path / "private"
    world.scratch.git("init", "--quiet", str(private))
    world.scratch.write(private, {"key": "private\n"})
    names = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    world.scratch.git("add", "--all", cwd=private)
    world.scratch.git("commit", "--quiet", "--message", "x", cwd=private, env=names)
    stolen = world.scratch.git("rev-parse", "HEAD", cwd=private)
    base = world.make_commit({"a": "1\n"})
    tree = Path(await world.workspace.open(RUN, "whilly/T-1", base))
    with (tree / ".git" / "objects" / "info" / "alternates").open("a", encoding="utf-8") as file:
        file.write(f"{private}/.git/objects\n")
    (tree / ".git" / "refs" / "heads" / "whilly" / "T-1").write_text(f"{stolen}\n", encoding="ascii")
    world.write(tree, {"a": "2\n"})
    saved = await world.workspace.save(RUN, attempt_id(RUN, 1), base)
    assert world.files_of(saved.commit) == {"a": "2\n"}
    for place in (world.scratch.root, world.places.mirror):
        with pytest.raises(RuntimeError):
            world.scratch.git("cat-file", "-e", stolen, cwd=place)


async def test_what_was_committed_and_taken_back_is_in_no_commit_of_ours(world: ContainedWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    tree = await world.workspace.open(RUN, "whilly/T-1", base)
    world.write(tree, {".github/workflows/evil.yml": "on: push\n"})
    world.scratch.commit("add", cwd=tree)
    world.write(tree, {".github/workflows/evil.yml": None, "a": "2\n"})
    world.scratch.commit("remove", cwd=tree)
    saved = await world.workspace.save(RUN, attempt_id(RUN, 1), base)
    assert world.parents_of(saved.commit) == (base,)
    history = world.scratch.git("log", "--format=", "--name-only", f"{base}..{saved.commit}")
    assert history == "a"


async def test_a_planted_link_is_not_followed(world: ContainedWorld, tmp_path: Path) -> None:
    keys = tmp_path / "authorized_keys"
    keys.write_text("mine\n", encoding="utf-8")
    base = world.make_commit({"a": "1\n"})
    tree = Path(await world.workspace.open(RUN, "whilly/T-1", base))
    for name in (".task-dev.md", "whilly.toml", "tasks.json"):
        (tree / name).symlink_to(keys)
    for name in ("index", "HEAD", "MERGE_HEAD", "config"):
        (tree / ".git" / name).unlink(missing_ok=True)
        (tree / ".git" / name).symlink_to(keys)
    (tree / "folder").symlink_to(tmp_path)
    await live_through(world, base)
    assert keys.read_text(encoding="utf-8") == "mine\n"
    assert keys.stat().st_uid == os.geteuid()


async def test_files_that_cannot_be_read_are_named(world: ContainedWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    tree = Path(await world.workspace.open(RUN, "whilly/T-1", base))
    world.write(tree, {"a": "2\n", "closed": "x\n"})
    (tree / "closed").chmod(0)
    os.mkfifo(tree / "pipe")
    saved = await world.workspace.save(RUN, attempt_id(RUN, 1), base)
    assert (saved.paths, saved.left_out) == (("a",), ("closed",))


# Bundles.


@pytest.fixture
async def quarantine(world: ContainedWorld) -> Quarantine:
    git = Git(env={"PATH": os.defpath, **HARDENED})
    await Mirror(git, world.scratch.root, world.places).require(CommitId(world.scratch.git("rev-parse", "main")))
    return Quarantine(git, world.places)


def forge(world: ContainedWorld, folder: Path, *entries: tuple[str, str, str]) -> Path:
    """A bundle on top of `main` whose tree has these entries: mode, name, object; nothing checks them."""
    git = world.scratch.git
    raw = b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(oid) for mode, name, oid in entries)
    tree = git("hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=raw)
    commit = git("commit-tree", tree, "-p", "main", "-m", "x")
    git("update-ref", "refs/heads/result", commit)
    bundle = folder / "result.bundle"
    git("bundle", "create", "--quiet", str(bundle), "refs/heads/result", "^main")
    git("update-ref", "-d", "refs/heads/result")
    return bundle


def blob(world: ContainedWorld, text: str) -> str:
    return world.scratch.git("hash-object", "-w", "--stdin", stdin=text.encode())


def subtree(world: ContainedWorld) -> str:
    raw = b"100644 config\0" + bytes.fromhex(blob(world, "[core]\n\tfsmonitor = evil\n"))
    return world.scratch.git("hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=raw)


async def test_a_sound_bundle_is_opened(world: ContainedWorld, quarantine: Quarantine, tmp_path: Path) -> None:
    bundle = forge(world, tmp_path, ("100644", "a", blob(world, "new\n")))
    place, tree = await quarantine.open(bundle, world.scratch.git("rev-parse", "main"), "run-1")
    assert world.scratch.git("ls-tree", "--name-only", tree, cwd=place) == "a"


@pytest.mark.parametrize("name", [".git", ".GiT", "git~1", ".g\u200cit", "..", ".", "a/b"])
async def test_a_bundle_with_a_name_that_git_must_not_write_is_refused(
    world: ContainedWorld, quarantine: Quarantine, tmp_path: Path, name: str
) -> None:
    bundle = forge(world, tmp_path, ("40000", name, subtree(world)))
    with pytest.raises(BadResponse, match="refused by git's check"):
        await quarantine.open(bundle, world.scratch.git("rev-parse", "main"), "run-1")


@pytest.mark.parametrize("text", ['[submodule "x"]\n\turl = -u./evil\n\tpath = x\n', '[submodule "../x"]\n\turl = y\n'])
async def test_a_bundle_with_a_malicious_submodule_is_refused(
    world: ContainedWorld, quarantine: Quarantine, tmp_path: Path, text: str
) -> None:
    bundle = forge(world, tmp_path, ("100644", ".gitmodules", blob(world, text)))
    with pytest.raises(BadResponse, match="refused by git's check"):
        await quarantine.open(bundle, world.scratch.git("rev-parse", "main"), "run-1")


async def test_a_bundle_that_lacks_its_objects_is_refused(
    world: ContainedWorld, quarantine: Quarantine, tmp_path: Path
) -> None:
    main = world.scratch.git("rev-parse", "main")
    bundle = forge(world, tmp_path, ("100644", "a", blob(world, "new\n")))
    data = bundle.read_bytes()
    # Another commit than the pack holds, as a thief names one whose objects lie elsewhere.
    tip = data.split(b"\n")[2][:40]
    bundle.write_bytes(data.replace(tip, b"1234567890" * 4, 1))
    with pytest.raises(BadResponse):
        await quarantine.open(bundle, main, "run-1")


def truncate(bundle: Path) -> None:
    with bundle.open("wb") as file:
        file.truncate(60 * 2**20)


IMPOSTORS: dict[str, Callable[[Path], object]] = {
    "missing": lambda bundle: bundle.unlink(missing_ok=True),
    "pipe": os.mkfifo,
    "link": lambda bundle: bundle.symlink_to("/etc/shadow"),
    "folder": Path.mkdir,
    "socket": lambda bundle: os.mknod(bundle, 0o140600),
    "large": truncate,
    "empty": Path.touch,
    "text": lambda bundle: bundle.write_text("# v2 git bundle\nnonsense\n", encoding="utf-8"),
}


@pytest.mark.parametrize("kind", IMPOSTORS)
async def test_what_is_no_bundle_is_refused_at_once(
    world: ContainedWorld, quarantine: Quarantine, tmp_path: Path, kind: str
) -> None:
    main = world.scratch.git("rev-parse", "main")
    bundle = tmp_path / "result.bundle"
    IMPOSTORS[kind](bundle)
    began = time.monotonic()
    with pytest.raises(BadResponse):
        await quarantine.open(bundle, main, "run-1")
    assert time.monotonic() - began < 5


async def test_a_bundle_on_another_commit_is_refused(
    world: ContainedWorld, quarantine: Quarantine, tmp_path: Path
) -> None:
    bundle = forge(world, tmp_path, ("100644", "a", blob(world, "new\n")))
    with pytest.raises(BadResponse, match="no bundle on top of"):
        await quarantine.open(bundle, "1234567890" * 4, "run-1")


# The policy, on what lies in a checkout.


async def test_every_refused_path_is_named(world: ContainedWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    tree = Path(await world.workspace.open(RUN, "whilly/T-1", base))
    (tree / "out").symlink_to("/etc/passwd")
    (tree / "up").symlink_to("../../x")
    (tree / "a\nb").write_text("x\n", encoding="utf-8")
    (tree / "a\u202eb").write_text("x\n", encoding="utf-8")
    (tree / os.fsdecode(b"a\xffb")).write_text("x\n", encoding="utf-8")
    (tree / "large").write_bytes(b"x" * (6 * 2**20))
    (tree / "key").write_text("ghp_" + "a" * 36, encoding="utf-8")
    (tree / ".gitea").mkdir()
    (tree / ".gitea" / "ci.yml").write_text("on: push\n", encoding="utf-8")
    world.write(tree, {"a": "fine\n"})
    saved = await world.workspace.save(RUN, attempt_id(RUN, 1), base)
    policy = GitPolicy(world.inner.git, world.scratch.root)
    found = {(each.path, each.rule) for each in await policy.objections(base, saved.commit)}
    assert found == {
        ("out", "link_outside"),
        ("up", "link_outside"),
        ("a\nb", "odd_path"),
        ("a\u202eb", "odd_path"),
        ("a\udcffb", "odd_path"),
        ("large", "too_large"),
        ("key", "secret"),
        (".gitea/ci.yml", "ci"),
    }


async def test_a_submodule_is_refused(world: ContainedWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    git = world.scratch.git
    env = {"GIT_INDEX_FILE": str(world.scratch.home / "other-index")}
    git("read-tree", base, env=env)
    git("update-index", "--add", "--cacheinfo", f"160000,{base},lib", env=env)
    commit = CommitId(git("commit-tree", git("write-tree", env=env), "-p", base, "-m", "x"))
    (found,) = await GitPolicy(world.inner.git, world.scratch.root).objections(base, commit)
    assert (found.path, found.rule) == ("lib", "submodule")


async def test_the_policy_says_when_there_is_no_such_commit(world: ContainedWorld) -> None:
    base = world.make_commit({"a": "1\n"})
    with pytest.raises(NotFound):
        await GitPolicy(world.inner.git, world.scratch.root).objections(base, CommitId("1234567890" * 4))
