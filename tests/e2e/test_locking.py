"""One `whilly run` at a time in a repository, and one that looks on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no sessions", allow_module_level=True)

from whilly.testing.workshop import WAIT

if TYPE_CHECKING:
    from whilly.testing.workshop import Workshop

LATE = f"$ {WAIT}\n$ echo $item > $item.txt"


def test_a_second_one_is_refused_with_the_name_of_the_first(shop: Workshop) -> None:
    shop.plan({"id": "A", "description": LATE})
    first = shop.start("run")
    shop.wait_for(shop.log)
    second = shop.run("run")
    assert (second.code, second.out) == (4, "")
    assert f"process {first.process.pid} " in second.err
    assert "on shop" in second.err
    assert "--watch" in second.err
    shop.let_go()
    assert first.wait().code == 0
    assert shop.log().count("start A execute") == 1


def test_another_one_looks_on_until_the_first_ends(shop: Workshop) -> None:
    shop.plan({"id": "A", "description": LATE}, {"id": "B", "test_steps": ["false"]})
    shop.plan({"id": "C", "description": LATE}, name=".planning/more-tasks.json", project="more")
    first = shop.start("run", "--all")
    # At once: there may be no ledger yet.
    shop.wait_for((shop.repository.root / ".whilly" / "run.json").exists)
    watcher = shop.start("run", "--watch")
    shop.wait_for(lambda: '"progress"' in watcher.out)
    assert watcher.process.poll() is None
    shop.let_go()
    ended, seen = first.wait(), watcher.wait(10)
    assert (ended.code, seen.code) == (1, 1), seen.err
    assert [(one["done"], one["exit_code"]) for one in seen.objects("complete")] == [(1, 1), (1, 0)]
    # Nobody is at work any more: then it works itself.
    assert shop.run("run", "--watch", "tasks.json").code == 1
    assert shop.log().count("start A execute") == 1


def test_the_lock_of_a_killed_one_is_not_believed_and_its_agent_is_adopted(shop: Workshop) -> None:
    shop.plan({"id": "A", "description": LATE})
    first = shop.start("run")
    shop.wait_for(shop.log)
    first.kill()
    assert (shop.repository.root / ".whilly" / "run.json").exists()
    assert len(shop.processes()) >= 2
    second = shop.start("run")
    shop.wait_for(lambda: "plan_begun" in second.out)
    shop.let_go()
    ended = second.wait()
    assert (ended.code, shop.log(), shop.processes()) == (0, ["start A execute", "end A execute"], [])
    assert shop.integrated() == ["A"]


def test_two_repositories_do_not_know_each_other(shop: Workshop) -> None:
    """A linked work tree has a state of its own, and the same branches."""
    shop.plan({"id": "A", "description": LATE})
    first = shop.start("run")
    shop.wait_for(shop.log)
    linked = shop.world / "linked"
    shop.repository.git("worktree", "add", "--quiet", "-b", "side", str(linked))
    for name in ("tasks.json", "whilly.toml"):
        text = (shop.repository.root / name).read_text(encoding="utf-8")
        shop.repository.write(linked, {name: text.replace('"A"', '"B"').replace("shop", "side")})
    shop.let_go()
    second = shop.run("run", cwd=linked)
    assert (first.wait().code, second.code) == (0, 0), second.err
    assert second.complete["target"] == "whilly/side"
    assert shop.repository.git("show", "whilly/side:B.txt") == "B"
    assert shop.integrated() == ["A"]
