"""Where finished work goes, and what is never touched."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no sessions", allow_module_level=True)

from whilly.testing.workshop import WAIT

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.testing.workshop import Workshop

LATE = f"$ {WAIT}\n$ echo $item > $item.txt"


def photograph(root: Path) -> dict[str, tuple[int, float, str]]:
    """Every file of the checkout, and git's index and HEAD, byte by byte; not what is Whilly's own."""
    paths = [path for path in root.rglob("*") if path.is_file() and path.relative_to(root).parts[0] == ".git"]
    seen = [path for path in paths if path.name in {"index", "HEAD", "config"} and path.parent.name == ".git"]
    seen += [
        path
        for path in root.rglob("*")
        if path.is_file() and path.relative_to(root).parts[0] not in {".git", ".whilly"}
    ]
    return {
        str(path): (path.stat().st_mode, path.stat().st_mtime, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in seen
    }


def test_the_checkout_of_the_base_is_not_touched_in_any_way(shop: Workshop) -> None:
    repository = shop.repository
    repository.write(
        repository.root, {"staged.txt": "one\n", "both.txt": "one\n", "old.txt": "one\n", ".gitignore": "*.log\n"}
    )
    main = repository.commit("more")
    repository.write(repository.root, {"staged.txt": "two\n", "both.txt": "two\n", "new.txt": "new\n"})
    repository.git("add", "staged.txt", "both.txt", "new.txt")
    repository.git("rm", "--quiet", "old.txt")
    repository.write(
        repository.root, {"both.txt": "three\n", "A.txt": "mine\n", "dir/untracked.txt": "x", "x.log": "y"}
    )
    shop.plan({"id": "A"}, {"id": "B", "description": "$ echo theirs > both.txt"})
    before = photograph(repository.root)
    ended = shop.run("run")
    assert (ended.code, ended.complete["target"]) == (0, "whilly/shop")
    after = photograph(repository.root)
    assert {name for name, seen in after.items() if before.get(name) != seen} == set()
    assert before.keys() == after.keys()
    assert repository.git("rev-parse", "main") == main
    assert repository.git("show", "whilly/shop:both.txt") == "theirs"
    assert repository.git("status", "--porcelain", "--ignored") == repository.git("status", "--porcelain", "--ignored")


def test_a_base_that_is_checked_out_nowhere_moves_itself(shop: Workshop) -> None:
    shop.repository.git("switch", "--quiet", "-c", "elsewhere")
    shop.settings('[repository]\nbase_branch = "main"\n')
    shop.plan({"id": "A"})
    ended = shop.run("run")
    assert (ended.code, ended.complete["target"], ended.complete["take_over"]) == (0, "main", "")
    assert shop.repository.git("show", "main:A.txt") == "A"
    assert shop.repository.git("branch", "--list", "whilly/*") == ""


def test_a_target_of_ones_own_and_a_prefix(shop: Workshop) -> None:
    shop.settings('[repository]\ntarget = "integration/next"\nbranch_prefix = "bot-"\n')
    shop.plan({"id": "A"}, {"id": "B", "description": "$ exit 3"})
    ended = shop.run("run", "--max-attempts", "1")
    assert (ended.code, ended.complete["target"]) == (1, "integration/next")
    assert ended.complete["take_over"] == "git merge --ff-only integration/next"
    assert shop.integrated("integration/next") == ["A"]
    assert shop.repository.git("branch", "--list", "--format=%(refname:short)", "bot-*", "whilly/*") == "bot-B"


@pytest.mark.parametrize("target", ["base", "main", "side"])
def test_a_target_that_is_checked_out_is_refused_with_what_to_do(shop: Workshop, target: str) -> None:
    place = shop.world / "linked here"
    shop.repository.git("worktree", "add", "--quiet", "-b", "side", str(place))
    shop.settings(f'[repository]\ntarget = "{target}"\n')
    shop.plan({"id": "A"})
    ended = shop.run("run")
    assert (ended.code, ended.out, shop.log()) == (4, "", [])
    remedy = f"git -C '{place}' switch --detach" if target == "side" else "switch --detach"
    assert remedy in ended.err
    if target == "side":
        shop.repository.git("-C", str(place), "switch", "--quiet", "--detach")
        assert shop.run("run").code == 0


def test_what_the_user_commits_meanwhile_is_built_upon(shop: Workshop) -> None:
    """The base is the target here, and moves while the agent is at work and again while its work is verified."""
    repository = shop.repository
    repository.git("switch", "--quiet", "-c", "elsewhere")
    shop.settings('[repository]\nbase_branch = "main"\n')
    shop.plan(
        {
            "id": "A",
            "description": LATE,
            "test_steps": [
                f"touch {shop.world}/checked; {WAIT.replace('go', 'go-on').replace('$WORLD', str(shop.world))}"
            ],
        }
    )
    running = shop.start("run")
    shop.wait_for(shop.log)
    first = repository.make_commit({"mine.txt": "mine\n"}, repository.refs()["refs/heads/main"])
    repository.set_ref("refs/heads/main", first)
    shop.let_go()
    shop.wait_for((shop.world / "checked").exists)
    second = repository.make_commit({"more.txt": "more\n"}, first)
    repository.set_ref("refs/heads/main", second)
    (shop.world / "go-on").touch()
    ended = running.wait()
    assert ended.code == 0, ended.err
    head = repository.refs()["refs/heads/main"]
    assert repository.parents_of(head) == (second,)
    assert {"A.txt", "mine.txt", "more.txt"} <= repository.files_of(head).keys()


def test_a_base_that_went_on_is_merged_and_the_next_run_starts_from_what_was_taken_over(shop: Workshop) -> None:
    repository = shop.repository
    shop.plan({"id": "A", "description": LATE})
    running = shop.start("run")
    shop.wait_for(shop.log)
    repository.write(repository.root, {"mine.txt": "mine\n"})
    repository.git("add", "mine.txt")
    repository.git("commit", "--quiet", "-m", "mine")
    shop.let_go()
    ended = running.wait()
    assert (ended.code, ended.complete["take_over"]) == (0, "git merge whilly/shop")
    repository.git("merge", "--quiet", "--no-edit", "whilly/shop")
    shop.plan({"id": "A"}, {"id": "B"})
    again = shop.run("run")
    assert again.code == 0, again.err
    assert repository.files_of(repository.refs()["refs/heads/whilly/shop"]).keys() >= {"A.txt", "B.txt", "mine.txt"}
    assert again.complete["take_over"] == "git merge --ff-only whilly/shop"


def test_a_target_that_is_checked_out_during_the_run_is_left_alone_until_it_is_free(shop: Workshop) -> None:
    repository = shop.repository
    shop.plan({"id": "A", "description": LATE})
    running = shop.start("run")
    shop.wait_for(shop.log)
    repository.git("switch", "--quiet", "whilly/shop")
    before = photograph(repository.root)
    shop.let_go()
    ended = running.wait()
    assert ended.code == 1, ended.out
    assert photograph(repository.root) == before
    assert shop.log() == ["start A execute", "end A execute"]
    assert f"whilly/shop is checked out in {repository.root}" in ended.tasks["A"]["reason"]
    repository.git("switch", "--quiet", "main")
    again = shop.run("run")
    assert (again.code, shop.integrated()) == (0, ["A"]), again.err
    assert shop.log() == ["start A execute", "end A execute"]


def test_finished_work_that_no_branch_has_any_more_is_told(shop: Workshop) -> None:
    repository = shop.repository
    shop.plan({"id": "A"}, {"id": "B", "dependencies": ["A"]})
    assert shop.run("run").complete["warnings"] == []
    tip = repository.git("rev-parse", "whilly/shop")
    repository.git("branch", "-q", "-D", "whilly/shop")
    ended = shop.run("run")
    (warning,) = ended.complete["warnings"]
    assert (ended.code, "A, B" in warning, warning in ended.err) == (0, True, True)
    assert f"git branch -f whilly/shop {tip}" in warning
    assert warning in json.loads(shop.run("status", "--json").out)["warnings"]
    assert f"git branch -f whilly/shop {tip}" in shop.run("status").out.replace("\n", " ")
    assert "no branch has it any more" in shop.run("why", "A").out
    found = {each["code"]: each for each in json.loads(shop.run("doctor", "--json").out)["findings"]}
    assert tip in found["work_unreachable"]["remedy"]
    # The remedy is one.
    repository.git("branch", "-f", "whilly/shop", tip)
    assert shop.run("run").complete["warnings"] == []
    # Work that was merged by squashing is there.
    repository.git("merge", "--quiet", "--squash", "whilly/shop")
    repository.commit("squashed")
    repository.git("branch", "-q", "-D", "whilly/shop")
    assert shop.run("run").complete["warnings"] == []
    assert "any more" not in shop.run("why", "A").out


def test_other_work_on_the_target_is_not_given_up_for_what_was_lost(shop: Workshop) -> None:
    shop.plan({"id": "A"})
    assert shop.run("run").code == 0
    tip = shop.repository.git("rev-parse", "whilly/shop")
    shop.repository.git("branch", "-q", "-D", "whilly/shop")
    shop.plan({"id": "A"}, {"id": "B"})
    ended = shop.run("run")
    (warning,) = ended.complete["warnings"]
    assert (ended.code, shop.integrated()) == (0, ["B"])
    assert f"git branch whilly/shop-lost {tip}" in warning
    assert "A" in warning
