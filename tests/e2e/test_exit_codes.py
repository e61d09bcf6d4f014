"""One test for each row of the table of exit codes, with the installed command; see also `test_interrupts.py`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no sessions", allow_module_level=True)

from whilly.testing.workshop import WAIT

if TYPE_CHECKING:
    from whilly.testing.workshop import Workshop

AUTH = '{"type": "result", "outcome": "auth_failed", "reason": "log in first"}'


def test_0_everything_is_done(shop: Workshop) -> None:
    shop.plan({"id": "A"}, {"id": "B", "status": "done"})
    ended = shop.run("run")
    assert (ended.code, ended.statuses) == (0, {"A": "done", "B": "done"})
    assert "start B execute" not in shop.log()
    complete = ended.complete
    assert (complete["target"], complete["take_over"]) == ("whilly/shop", "git merge --ff-only whilly/shop")
    assert Path(complete["report"]).is_file()
    # There is nothing to do any more, and that is no failure.
    assert shop.run("run").code == 0
    shop.repository.git("merge", "--ff-only", "whilly/shop")
    assert shop.run("run").complete["take_over"] == ""


def test_1_something_failed_and_something_is_blocked_by_it(shop: Workshop) -> None:
    shop.settings("[run]\nmax_attempts = 1\n")
    shop.plan({"id": "A", "description": "$ exit 3"}, {"id": "B", "dependencies": ["A"]}, {"id": "C"})
    ended = shop.run("run")
    assert (ended.code, ended.statuses) == (1, {"A": "failed", "B": "blocked", "C": "done"})
    assert "exit code 3" in ended.tasks["A"]["reason"]
    assert "A, which failed" in ended.tasks["B"]["reason"]


@pytest.mark.parametrize("status", ["skipped", "failed", "human_loop", "blocked"])
def test_1_something_was_not_done_before(shop: Workshop, status: str) -> None:
    if status == "blocked":
        shop.plan({"id": "A", "status": "skipped"}, {"id": "B", "dependencies": ["A"]})
    else:
        shop.plan({"id": "A", "status": status})
    ended = shop.run("run")
    assert (ended.code, shop.log()) == (1, []), ended.err


def test_1_a_task_was_cancelled_while_it_was_worked_on(shop: Workshop) -> None:
    shop.plan({"id": "A", "description": f"$ {WAIT}"}, {"id": "B"})
    running = shop.start("run")
    shop.wait_for(lambda: {"start A execute", "end B execute"} <= set(shop.log()))
    assert shop.run("cancel", "A").code == 0
    ended = running.wait(20)
    assert (ended.code, ended.statuses, shop.processes()) == (1, {"A": "skipped", "B": "done"}, [])


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ("{", "tasks.json"),
        ('{"tasks": []}', "tasks.json"),
        ('{"tasks": [{"id": "A", "description": "x", "dependencies": ["Z"]}]}', "Z"),
        ('{"tasks": [{"id": "A", "description": "x"}, {"id": "A", "description": "y"}]}', "A"),
    ],
)
def test_4_a_bad_plan(shop: Workshop, plan: str, told: str) -> None:
    shop.repository.write(shop.repository.root, {"tasks.json": plan})
    ended = shop.run("run")
    assert (ended.code, ended.out) == (4, "")
    assert told in ended.err
    assert "nothing was started" in ended.err
    assert not (shop.repository.root / ".whilly").exists()


def test_4_a_bad_configuration_or_command_line(shop: Workshop) -> None:
    shop.plan({"id": "A"})
    for words in (["--parallel", "0"], ["--budget", "nan"], ["--timeout", "-1"], ["--parallel", "x"], ["--parallell"]):
        ended = shop.run("run", *words)
        assert (ended.code, ended.out) == (4, ""), words
        assert words[0] in ended.err or "run." in ended.err
    shop.settings("[run]\nparalel = 2\n")
    ended = shop.run("run")
    assert ended.code == 4
    assert "parallel" in ended.err
    assert shop.log() == []


def test_4_no_plan_or_several(shop: Workshop) -> None:
    ended = shop.run("run")
    assert ended.code == 4
    assert "whilly init --sample" in ended.err
    shop.plan({"id": "A"})
    shop.plan({"id": "A"}, name=".planning/more-tasks.json")
    ended = shop.run("run")
    assert ended.code == 4
    assert "--all" in ended.err
    assert shop.run("run", "nowhere.json").code == 4


def test_4_no_repository_no_commit(shop: Workshop) -> None:
    shop.plan({"id": "A"})
    ended = shop.run("run", cwd=shop.world)
    assert ended.code == 4
    assert "git init" in ended.err
    empty = shop.world / "empty"
    empty.mkdir()
    shop.repository.git("init", "--quiet", cwd=empty)
    shop.repository.write(empty, {"tasks.json": '{"tasks": [{"id": "A", "description": "x"}]}'})
    ended = shop.run("run", "--agent", "demo", cwd=empty)
    assert ended.code == 4
    assert "git commit" in ended.err


def test_4_an_agent_that_is_not_known_or_not_there(shop: Workshop) -> None:
    shop.plan({"id": "A"})
    ended = shop.run("run", "--agent", "demmo")
    assert ended.code == 4
    assert "did you mean 'demo'" in ended.err
    shop.settings('[agents.gone]\nargv = ["no-such-program"]\ninstall = "get no-such-program"\n')
    ended = shop.run("run", "--agent", "gone")
    assert ended.code == 4
    assert "get no-such-program" in ended.err
    shop.plan({"id": "A"}, {"id": "B", "agent": "gone"})
    assert shop.run("run").code == 4
    assert shop.log() == []


def test_4_an_agent_that_is_not_logged_in_stops_everything_and_says_what_mends_it(shop: Workshop) -> None:
    fail = f"$ [ -e \"$WORLD/login\" ] || {{ echo '{AUTH}'; exit 1; }}"
    others = {"agent": "sh", "description": f"$ {WAIT}\n$ echo $item > $item.txt"}
    shop.plan({"id": "A", "agent": "paid", "description": f"{fail}\n$ echo A > A.txt"}, {"id": "B", **others})
    running = shop.start("run")
    ended = running.wait(30)
    assert (ended.code, shop.processes()) == (4, [])
    assert ended.statuses == {"A": "in_progress", "B": "in_progress"}
    assert (ended.complete["stop"], ended.complete["remedy"]) == ("auth", "sh --login")
    (shop.world / "login").touch()
    shop.let_go()
    again = shop.run("run")
    assert (again.code, again.statuses) == (0, {"A": "done", "B": "done"}), again.err
