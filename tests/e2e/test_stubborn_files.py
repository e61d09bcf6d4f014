"""Files that Whilly may not enter or remove cost nobody else's work."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no such modes", allow_module_level=True)

from whilly.testing.privileges import EVERYBODY_ELSE, IS_ROOT, PLAIN
from whilly.testing.workshop import WAIT

if TYPE_CHECKING:
    from whilly.testing.workshop import Ended, Workshop

AFTER = {"id": "LATER", "dependencies": ["GOOD"]}
only_root = pytest.mark.skipif(not IS_ROOT, reason="only root can give files away")


def give_away(folder: Path) -> None:
    """Make a directory somebody else's, as a container does that runs as another user."""
    (folder / "o").touch()
    os.chown(folder, EVERYBODY_ELSE, EVERYBODY_ELSE)


def hear(ended: Ended) -> str:
    """What it said on standard error, without any surprise in it."""
    assert "Traceback" not in ended.err
    assert "internal error" not in ended.err
    assert ended.complete["exit_code"] == ended.code
    return ended.err


def findings(shop: Workshop, *words: str) -> dict[str, str]:
    told = json.loads(shop.run("doctor", "--json", *words, under=PLAIN).out)
    return {finding["code"]: finding["what"] for finding in told["findings"]}


def test_a_workspace_that_its_agent_has_closed_is_opened_again(shop: Workshop) -> None:
    shop.plan({"id": "SHUT", "description": "$ echo x > shut.txt; chmod 000 ."}, {"id": "GOOD"}, AFTER)
    ended = shop.run("run", under=PLAIN)
    assert (ended.code, sorted(shop.integrated())) == (0, ["GOOD", "LATER", "SHUT"]), hear(ended)
    assert not list((shop.repository.root / ".whilly" / "worktrees").iterdir())


@only_root
def test_a_workspace_that_cannot_be_removed_is_named_and_holds_nobody_up(shop: Workshop) -> None:
    (shop.repository.root / ".git" / "info" / "exclude").write_text("build/\n")
    shop.plan(
        {"id": "T1", "description": f"$ mkdir build; pwd > $WORLD/place\n$ {WAIT}\n$ echo a > a.txt"},
        {"id": "GOOD"},
        AFTER,
    )
    running = shop.start("run", under=PLAIN)
    shop.wait_for(lambda: (shop.world / "place").exists() and (shop.world / "place").read_text())
    give_away(Path((shop.world / "place").read_text().strip()) / "build")
    shop.let_go()
    ended = running.wait()
    assert (ended.code, sorted(shop.integrated())) == (0, ["GOOD", "LATER", "T1"]), hear(ended)
    (warning,) = ended.complete["warnings"]
    assert "the workspace of T1 was not put away" in warning
    assert "sudo rm -rf" in warning
    assert warning in hear(ended)
    assert "leftover_stuck" in findings(shop)
    # What is left is in nobody's way, and is tried again.
    again = shop.run("run", under=PLAIN)
    assert (again.code, len(again.complete["warnings"])) == (0, 1), hear(again)
    assert "leftover_stuck" in findings(shop, "--fix")
    once_more = shop.run("run")
    assert (once_more.code, once_more.complete["warnings"]) == (0, []), hear(once_more)
    assert "leftover_stuck" not in findings(shop)


@only_root
def test_a_checkout_of_a_check_that_cannot_be_removed_holds_nobody_up(shop: Workshop) -> None:
    step = f"mkdir build && pwd > $HOME/place && {WAIT.replace('$WORLD', str(shop.world))}"
    shop.plan({"id": "T1", "test_steps": [step]}, {"id": "GOOD", "test_steps": ["true"], "dependencies": ["T1"]})
    running = shop.start("run", under=PLAIN)
    place = shop.repository.home / "place"
    shop.wait_for(lambda: place.exists() and place.read_text())
    give_away(Path(place.read_text().strip()) / "build")
    shop.let_go()
    ended = running.wait()
    assert (ended.code, shop.integrated()) == (0, ["T1", "GOOD"]), hear(ended)
    assert any("sudo rm -rf" in warning for warning in ended.complete["warnings"])
    assert "leftover_stuck" in findings(shop)
    assert shop.run("run", under=PLAIN).code == 0
