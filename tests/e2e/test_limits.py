"""Time, money, attempts and parallel slots, with the installed command."""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no sessions", allow_module_level=True)


if TYPE_CHECKING:
    from whilly.testing.workshop import Ended, Workshop

SLOW = "$ sleep 600"


def count_overlap(log: list[str]) -> int:
    """How many agents were at work at the same time, at most."""
    now, most = 0, 0
    for line in log:
        now += 1 if line.startswith("start ") else -1
        most = max(most, now)
    return most


def reasons(ended: Ended) -> dict[str, str]:
    return {name: task["reason"] for name, task in ended.tasks.items()}


def test_3_the_time_of_the_run_is_over_within_seconds_over_all_plans(shop: Workshop) -> None:
    shop.plan({"id": "A", "description": f"$ echo half > half.txt\n{SLOW}"}, {"id": "B", "dependencies": ["A"]})
    shop.plan({"id": "C", "description": SLOW}, name=".planning/more-tasks.json", project="more")
    ended = shop.run("run", "--all", "--timeout", "3")
    assert (ended.code, shop.processes()) == (3, [])
    assert [complete["exit_code"] for complete in ended.objects("complete")] == [3, 3]
    # From the beginning of the work to its end; a busy machine takes longer to start Python than to do this.
    assert ended.objects("complete")[0]["elapsed_sec"] < 3 + 6
    assert shop.log() == ["start A execute"]
    assert [ref for ref in shop.repository.refs() if ref.startswith("refs/whilly/wip/")] != []


def test_2_the_money_is_spent_and_work_goes_on_when_there_is_more(shop: Workshop) -> None:
    shop.settings('[agent]\nname = "paid"\nreservation_usd = 0.5\n')
    once = f"$ if mkdir $WORLD/C; then until grep -q 'end B' $LOG; do sleep 0.02; done; {SLOW[2:]}; fi"
    shop.plan(
        {"id": "A"},
        {"id": "B", "dependencies": ["A"]},
        {"id": "C", "agent": "sh", "description": f"{once}\n$ echo C > C.txt"},
        {"id": "D", "dependencies": ["B"]},
        {"id": "E", "dependencies": ["D"]},
    )
    ended = shop.run("run", "--budget", "1")
    assert (ended.code, ended.complete["stop"], ended.complete["cost_usd"]) == (2, "budget", 1.0)
    # What was paid for is checked and integrated, what would cost more is ended.
    assert ended.statuses == {"A": "done", "B": "done", "C": "in_progress", "D": "pending", "E": "pending"}
    assert shop.processes() == []
    assert len(ended.objects("budget_warning")) == 1
    again = shop.run("run", "--budget", "1.2")
    assert (again.code, again.complete["cost_usd"], again.statuses["D"]) == (2, 1.5, "done")
    last = shop.run("run", "--budget", "2")
    assert (last.code, last.complete["cost_usd"]) == (0, 2.0), last.err


def test_a_cost_that_nobody_knows_counts_as_its_reservation(shop: Workshop) -> None:
    shop.settings('[agent]\nreservation_usd = 0.4\n[agents.sh]\ncost = "unknown"\n')
    shop.plan({"id": "A"}, {"id": "B"}, {"id": "C"})
    ended = shop.run("run", "--parallel", "1", "--budget", "0.8")
    assert (ended.code, ended.complete["cost_usd"]) == (2, 0.8)
    assert sorted(ended.statuses.values()) == ["done", "done", "pending"]


@pytest.mark.parametrize("agent", ["sh", "demo"])
def test_an_agent_that_costs_nothing_needs_no_budget(shop: Workshop, agent: str) -> None:
    together = '$ until [ "$(grep -c start $LOG)" = 3 ]; do sleep 0.02; done\n$ echo $item > $item.txt'
    shop.plan(*({"id": name, "description": together} for name in "ABC"))
    ended = shop.run("run", "--budget", "0.01", "--agent", agent)
    assert (ended.code, ended.complete["cost_usd"], ended.objects("budget_warning")) == (0, 0.0, [])


def test_no_more_attempts_start_than_are_allowed_over_all_plans(shop: Workshop) -> None:
    shop.plan({"id": "A"}, {"id": "B", "dependencies": ["A"]})
    shop.plan({"id": "C"}, {"id": "D"}, name=".planning/more-tasks.json", project="more")
    ended = shop.run("run", "--all", "--max-iterations", "3", "--parallel", "1")
    assert ended.code == 1
    assert [line for line in shop.log() if line.startswith("start")] == [f"start {name} execute" for name in "ABC"]
    assert ended.complete["done"] == 1
    again = shop.run("run", "--all")
    assert again.code == 0, again.err


@pytest.mark.parametrize("tries", [1, 2])
def test_a_stage_is_tried_as_often_as_was_said(shop: Workshop, tries: int) -> None:
    shop.plan({"id": "A", "description": "$ exit 3"})
    ended = shop.run("run", "--max-attempts", str(tries))
    assert ended.code == 1
    assert shop.log() == ["start A execute"] * tries


def test_one_at_a_time_is_one_at_a_time_and_in_the_order_of_the_plan(shop: Workshop) -> None:
    shop.plan({"id": "A"}, {"id": "B", "priority": "critical"}, {"id": "C"})
    assert shop.run("run", "--parallel", "1").code == 0
    assert [line.split()[1] for line in shop.log()] == ["B", "B", "A", "A", "C", "C"]


def test_a_free_slot_is_taken_at_once(shop: Workshop) -> None:
    """A is at work all the time; the others take the two slots that are left, one after the other."""
    until = "$ until grep -q 'end E execute' $LOG; do sleep 0.02; done\n$ echo A > A.txt"
    shop.plan({"id": "A", "description": until}, *({"id": name} for name in "BCDE"))
    ended = shop.run("run", "--parallel", "3")
    assert ended.code == 0
    assert shop.log()[-1] == "end A execute"
    assert 2 <= count_overlap(shop.log()) <= 3


def test_what_claims_the_same_files_is_never_at_work_together(shop: Workshop) -> None:
    shop.plan(
        {"id": "A", "key_files": ["src/"], "description": "$ mkdir -p src; sleep 0.3; echo A > src/a.txt"},
        {"id": "B", "key_files": ["src/b.txt"], "description": "$ mkdir -p src; echo B > src/b.txt"},
        {"id": "C", "key_files": ["./src/../src/*.txt"], "description": "$ mkdir -p src; echo C > src/c.txt"},
        {"id": "D", "key_files": ["other.txt"], "description": "$ sleep 0.3; echo D > other.txt"},
    )
    assert shop.run("run", "--parallel", "4").code == 0
    assert count_overlap([line for line in shop.log() if line.split()[1] != "D"]) == 1
    assert count_overlap(shop.log()) == 2


def test_the_time_of_an_attempt_is_over(shop: Workshop) -> None:
    shop.settings("[agent]\nattempt_timeout_s = 1\ngrace_s = 0.2\n[run]\nmax_attempts = 1\n")
    shop.plan({"id": "A", "description": f"$ trap '' TERM\n{SLOW}"})
    ended = shop.run("run")
    assert (ended.code, shop.processes()) == (1, [])
    assert "timed_out" in ended.tasks["A"]["reason"]


def test_an_agent_that_is_silent_is_stalled(shop: Workshop) -> None:
    shop.settings("[agent]\nfirst_output_s = 1\nstall_s = 1.5\n[run]\nmax_attempts = 1\n")
    # B hangs by itself; with a command below it, it would be at work.
    shop.plan({"id": "A", "description": SLOW}, {"id": "B", "description": "$ echo thinking\n$ exec sleep 600"})
    ended = shop.run("run")
    assert (ended.code, shop.processes()) == (1, [])
    assert "no first output for 1 s" in ended.tasks["A"]["reason"]
    assert "no output and nothing at work for 1 s" in ended.tasks["B"]["reason"]


def test_turns_model_and_variables_reach_the_agent(shop: Workshop) -> None:
    told = "echo $TOKENS$SECRETS {model} {max_turns} > told.txt; echo '<promise>COMPLETE</promise>'"
    line = f'argv = ["sh", "-c", "{told}"]'
    shop.settings(f'[agent]\nname = "told"\nmodel = "big"\nmax_turns = 7\nenv_pass = ["TOK*"]\n[agents.told]\n{line}\n')
    shop.plan({"id": "A"}, {"id": "B", "model": "small", "dependencies": ["A"]})
    ended = shop.run("run", TOKENS="t0", SECRETS="s0")
    assert ended.code == 0, ended.err
    shown = [shop.repository.git("show", f"whilly/shop{up}:told.txt") for up in ("~1", "")]
    assert shown == ["t0 big 7", "t0 small 7"]


def test_nothing_begins_with_a_prompt_that_is_no_template_or_an_action_that_is_none(shop: Workshop) -> None:
    packaged = files("whilly.application").joinpath("pipelines/forge.toml").read_text(encoding="utf-8")
    state = shop.repository.root / ".whilly"
    (state / "prompts").mkdir(parents=True)
    (state / "prompts" / "repair.md.j2").write_text("one\n{% if %}\n", encoding="utf-8")
    shop.plan({"id": "A"})
    refused = shop.run("run")
    assert (refused.code, refused.objects("attempt_started"), "Traceback" in refused.err) == (4, [], False)
    assert "prompt template repair.md.j2: line 2: " in refused.err
    (state / "prompts" / "repair.md.j2").unlink()
    (state / "pipelines").mkdir()
    (state / "pipelines" / "forge.toml").write_text(packaged.replace('"gather"', '"gathr"'), encoding="utf-8")
    refused = shop.run("run")
    assert (refused.code, refused.objects("attempt_started"), "Traceback" in refused.err) == (4, [], False)
    assert "stage 'gather': unknown action 'gathr'; did you mean gather?" in refused.err


def test_each_role_has_its_agent_and_its_model(shop: Workshop) -> None:
    packaged = files("whilly.application").joinpath("pipelines/solo.toml").read_text(encoding="utf-8")
    stages = packaged.partition("[stages.repair]")
    own = shop.repository.root / ".whilly" / "pipelines"
    own.mkdir(parents=True)
    text = "".join(stages[:2]) + stages[2].replace('role = "developer"', 'role = "mender"', 1)
    (own / "solo.toml").write_text(text, encoding="utf-8")
    argv = json.dumps(["sh", "-c", "echo {model} > told.txt; echo '<promise>COMPLETE</promise>'"])
    told = f'[agents.told]\nargv = {argv}\n[roles.developer]\nagent = "sh"\n'
    shop.settings(f'[agent]\nname = "absent"\n[agents.absent]\nargv = ["/no/such/program"]\n{told}')
    mender = '[roles.mender]\nagent = "told"\nmodel = "small"\n'
    settings = shop.repository.root / "whilly.toml"
    settings.write_text(settings.read_text(encoding="utf-8") + mender, encoding="utf-8")
    shop.plan({"id": "A", "test_steps": ["grep -q small told.txt"]}, {"id": "B", "agent": "sh"})
    ended = shop.run("run")
    assert (ended.code, ended.statuses) == (0, {"A": "done", "B": "done"}), ended.out + ended.err
    who = [(each["stage"], each["agent"]) for each in ended.objects("attempt_started") if each.get("agent")]
    assert sorted(who) == [("execute", "sh"), ("execute", "sh"), ("repair", "told")]
    shop.plan({"id": "C"}, name="more.json")
    said = shop.run("run", "more.json", "--agent", "paid", "--budget", "2")
    assert [each["agent"] for each in said.objects("attempt_started") if each.get("agent")] == ["paid"]


def test_another_agent_takes_over_at_a_usage_limit(shop: Workshop) -> None:
    limited = {"type": "result", "outcome": "limited", "reason": "used up", "cost_usd": 0}
    argv = json.dumps(["echo", json.dumps(limited).replace("{", "{{").replace("}", "}}")])
    shop.settings(
        '[agent]\nname = "full"\nsubstitutes = ["sh"]\n[run]\nparallel = 1\n'
        f'[agents.full]\nargv = {argv}\noutput = "jsonl"\ncost = "reported"\n'
    )
    shop.plan({"id": "A"}, {"id": "B"})
    ended = shop.run("run")
    assert (ended.code, ended.statuses) == (0, {"A": "done", "B": "done"}), ended.err
    tries = [(one["task_id"], one["agent"]) for one in ended.objects("attempt_started") if one.get("agent")]
    assert tries == [("A", "full"), ("A", "sh"), ("B", "sh")]
    (met,) = ended.objects("account_limited")
    assert (met["account"], met["reason"]) == ("full", "full: used up")


def test_without_another_agent_the_account_is_waited_for(shop: Workshop) -> None:
    once = 'if mkdir "$WORLD/met"; then echo \'{"type": "result", "outcome": "limited", "cost_usd": 0}\'; exit 0; fi'
    shop.settings('[agent]\nname = "paid"\nreservation_usd = 0.1\n')
    shop.plan(
        {"id": "A", "description": f"$ {once}\n$ echo A > A.txt"}, {"id": "B", "agent": "sh", "dependencies": ["A"]}
    )
    running = shop.start("run")
    shop.wait_for(lambda: '"deferred"' in running.out)
    told = shop.run("why", "A").out
    assert "for the account's limit: its account is limited" in told
    ended = running.wait(60)
    assert (ended.code, ended.statuses) == (0, {"A": "done", "B": "done"}), ended.err


@pytest.mark.parametrize(
    ("key", "code", "told"),
    [
        ("task", 1, "the task's budget of $0.8 is spent → raise run.task_budget_usd, then whilly retry"),
        ("day", 2, "raise run.day_budget_usd, or go on tomorrow"),
        ("project", 2, "raise run.project_budget_usd"),
    ],
)
def test_a_task_a_day_and_a_project_have_budgets_of_their_own(shop: Workshop, key: str, code: int, told: str) -> None:
    shop.settings(f'[agent]\nname = "paid"\nreservation_usd = 0.5\n[run]\nparallel = 1\n{key}_budget_usd = 0.8\n')
    # Every try costs half a dollar, and its check fails each time in another way.
    failing = {"id": "A", "description": "$ date +%N > A.txt", "test_steps": ["date +%N; false"]}
    shop.plan(failing, {"id": "B", "agent": "sh"}, {"id": "C", "dependencies": ["A"]})
    ended = shop.run("run")
    assert (ended.code, ended.complete["cost_usd"]) == (code, 1.0), ended.out
    if key == "task":
        assert ended.tasks["A"]["reason"] == told
        assert ended.statuses == {"A": "failed", "B": "done", "C": "blocked"}
        assert "whilly/A" in " ".join(shop.repository.refs())
    else:
        assert (ended.complete["stop"], ended.complete["remedy"]) == ("budget", told)
        # It is the money of all plans: another one gets none either.
        shop.plan({"id": "D"}, name="other.json")
        assert shop.run("run", "other.json").code == 2
