"""The predecessor's command lines, typed as people and scripts have them, against the installed command."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no sessions", allow_module_level=True)

if TYPE_CHECKING:
    from whilly.testing.workshop import Workshop


def test_a_plan_alone_is_run_and_ends_with_the_predecessor_s_objects(shop: Workshop) -> None:
    shop.plan({"id": "A"}, {"id": "B", "dependencies": ["A"]})
    ended = shop.run("tasks.json", "--headless")
    assert (ended.code, ended.statuses) == (0, {"A": "done", "B": "done"})
    kinds = [json.loads(line)["event"] for line in ended.out.splitlines()]
    assert set(kinds) >= {"progress", "complete"}
    assert kinds[-1] == "complete"


def test_all_plans(shop: Workshop) -> None:
    shop.plan({"id": "A"})
    shop.plan({"id": "B"}, name=".planning/more-tasks.json", project="more")
    ended = shop.run("--all", "--headless")
    assert ended.code == 0
    assert [one["done"] for one in ended.objects("complete")] == [1, 1]


def test_flags_that_chose_an_agent_a_limit_and_a_workspace(shop: Workshop) -> None:
    shop.plan({"id": "A"})
    ended = shop.run("tasks.json", "--agent", "demo", "--timeout", "600", "--no-workspace", "--headless")
    assert (ended.code, shop.log()) == (0, []), ended.err
    assert "--no-workspace has no effect: every task has a workspace of its own" in ended.err
    assert shop.run("tasks.json", "--workspace", "--resume", "--headless").code == 0


def test_reset_asks_nothing_and_takes_several_plans(shop: Workshop) -> None:
    shop.plan({"id": "A"})
    # This one was begun by the predecessor: only its file says what is done.
    shop.plan({"id": "B", "status": "done"}, {"id": "C", "status": "failed"}, name="old.json", project="old")
    assert shop.run("tasks.json").code == 0
    told = shop.run("--reset", "tasks.json", "old.json")
    assert (told.code, told.out.splitlines()) == (
        0,
        ["shop: 1 tasks are pending again", "old: 2 tasks are pending again"],
    )
    assert '"done"' in (shop.repository.root / "old.json").read_text(encoding="utf-8")
    assert shop.run("old.json").statuses == {"B": "done", "C": "done"}
    assert shop.log().count("start B execute") == 1


def test_reset_changes_nothing_when_one_name_is_wrong(shop: Workshop) -> None:
    shop.plan({"id": "A"})
    assert shop.run("tasks.json").code == 0
    told = shop.run("--reset", "tasks.json", "nowhere.json")
    assert (told.code, told.out) == (4, "")
    assert "'nowhere.json'" in told.err
    assert json.loads(shop.run("status", "--json").out)["counts"]["done"] == 1
    # Without a name it is today's command, which asks first.
    assert "nothing was changed\n  → whilly reset --yes" in shop.run("--reset").err


def test_doctor_and_configuration(shop: Workshop) -> None:
    assert shop.run("--doctor", "--no-gh").out.splitlines()[0].startswith("whilly ")
    assert "run.parallel" in shop.run("--config").out
    assert shop.run("--config", "path").code == 0
    assert shop.run("--config", "migrate").code == 0
    assert shop.run("--config", "nonsense").code == 4


def test_an_import_is_one_today(shop: Workshop) -> None:
    told = shop.run("--from-issue", "o/r#1")
    assert (told.code, told.err.splitlines()[0]) == (4, "whilly: there is no token for github")


@pytest.mark.parametrize("words", [("--source", "gh:o/r"), ("--from-jira", "AB-1", "--go"), ("--decision-gate",)])
def test_what_is_gone_says_what_to_do_instead(shop: Workshop, words: tuple[str, ...]) -> None:
    told = shop.run(*words)
    assert (told.code, told.out) == (4, "")
    assert words[0] in told.err
    assert "was a flag of the predecessor" in told.err
    assert "\n  → " in told.err
