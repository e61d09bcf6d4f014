"""People beside the agents: work in their hands, and a word, a stop and a look while agents are at work."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no sessions and no pseudo-terminals", allow_module_level=True)

from whilly.testing.terminal import TerminalProgram
from whilly.testing.workshop import WAIT, Workshop

if TYPE_CHECKING:
    from whilly.testing.workshop import Ended

BUSY = {"description": f"$ echo busy >> $LOG\n$ {WAIT}\n$ echo done > done.txt"}


def told(shop: Workshop, *words: str) -> dict[str, Any]:
    """What a command says with --json."""
    ended = shop.run(*words, "--json")
    assert ended.out, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def wait_for_handoff(shop: Workshop, task: str = "T-1") -> dict[str, Any]:
    """The open hand-off of a task, as `whilly handoff list` has it; its work is handed over."""
    places = shop.repository.root / ".whilly" / "handoff"
    shop.wait_for(lambda: [each for each in places.glob("*/meta.json") if f'"{task}"' in each.read_text()])
    shop.wait_for(lambda: any(each["id"] == task for each in told(shop, "status")["waiting"]))
    listed: list[dict[str, Any]] = told(shop, "handoff", "list")["handoffs"]
    (found,) = [each for each in listed if each["id"] == task]
    return found


def by_hand(handoff: dict[str, Any], text: str = "by hand") -> None:
    Path(handoff["workspace"], f"{handoff['id']}.txt").write_text(f"{text}\n", encoding="utf-8")


def finish(shop: Workshop, ended: Ended) -> None:
    assert (ended.code, set(ended.statuses.values())) == (0, {"done"}), ended.err
    assert shop.processes() == []


def test_work_is_handed_over_while_the_run_waits_and_goes_on_with_the_answer(shop: Workshop) -> None:
    shop.plan({"id": "T-1", "agent": "handoff", "test_steps": ["grep hand T-1.txt"]}, {"id": "T-2"})
    running = shop.start("run")
    handoff = wait_for_handoff(shop)
    assert (handoff["state"], handoff["is_current"], handoff["problem"]) == ("open", True, "")
    (waiting,) = told(shop, "status")["waiting"]
    assert (waiting["whom"], waiting["until"], waiting["since"] is not None) == ("person", None, True)
    shown = shop.run("handoff", "show", "t-1").out
    assert "# Task T-1" in shown
    assert handoff["workspace"] in shown
    assert "whilly handoff complete T-1" in "".join(told(shop, "why", "T-1")["remedies"])
    by_hand(handoff)
    ended = shop.run("handoff", "complete", "T-1", "--message", "there you are", "--num-turns", "3")
    assert (ended.code, ended.out) == (0, "T-1 is given back as complete\n")
    finish(shop, running.wait())
    assert shop.repository.git("show", "whilly/shop:T-1.txt") == "by hand"
    again = shop.run("handoff", "complete", "T-1")
    assert again.code == 1
    assert "T-1 cannot be given back" in again.err
    assert told(shop, "handoff", "list") == {"handoffs": []}
    (over,) = told(shop, "handoff", "list", "--all")["handoffs"]
    assert (over["state"], over["answer"], over["is_current"]) == ("taken", "complete", False)


@pytest.mark.parametrize("how", ["interrupted", "killed"])
def test_an_answer_is_taken_by_the_next_run_however_the_first_ended(shop: Workshop, how: str) -> None:
    shop.plan({"id": "T-1", "agent": "handoff"})
    first = shop.start("run")
    handoff = wait_for_handoff(shop)
    if how == "killed":
        first.kill()
    else:
        first.interrupt()
        assert first.wait(20).code == 130
    by_hand(handoff)
    ended = shop.run("handoff", "complete", handoff["name"])
    again = f"whilly run {shop.repository.root / 'tasks.json'}"
    assert ended.out.splitlines() == ["T-1 is given back as complete", f"the next `{again}` takes it up"]
    finish(shop, shop.run("run"))
    assert shop.integrated() == ["T-1"]
    assert next(row["outcome"] for row in told(shop, "logs", "T-1")["attempts"]) == "completed"


def test_an_answer_written_by_a_script_counts_and_a_broken_one_is_told(shop: Workshop) -> None:
    shop.plan({"id": "T-1", "agent": "handoff"})
    running = shop.start("run")
    handoff = wait_for_handoff(shop)
    by_hand(handoff)
    result = Path(handoff["place"], "result.json")
    os.mkfifo(result)
    shop.wait_for(lambda: "cannot be used" in told(shop, "why", "T-1")["sentence"])
    (found,) = told(shop, "handoff", "list")["handoffs"]
    assert (found["state"], found["problem"]) == ("spoiled", "result.json: it is not an ordinary file")
    result.unlink()
    written = result.with_name("draft")
    written.write_text('{"status": "complete", "message": "by a bot"}', encoding="utf-8")
    written.rename(result)
    finish(shop, running.wait())


def test_what_waits_for_somebody_says_for_whom_and_ends_the_run(shop: Workshop) -> None:
    shop.plan({"id": "T-1", "agent": "handoff"})
    running = shop.start("run")
    wait_for_handoff(shop)
    assert shop.run("handoff", "complete", "T-1", "--status", "blocked", "-m", "no key", "--for", "grace").code == 0
    ended = running.wait()
    assert (ended.code, ended.statuses) == (1, {"T-1": "human_loop"})
    (waiting,) = told(shop, "status")["waiting"]
    assert (waiting["whom"], waiting["reason"]) == ("person:grace", "blocked: somebody says: no key")
    assert "waits for grace" in told(shop, "why", "T-1")["sentence"]
    assert shop.run("handoff", "complete", "T-1").code == 1
    assert shop.run("retry", "T-1", "--note", "under the mat").code == 0
    second = shop.start("run")
    shop.wait_for(lambda: told(shop, "handoff", "list")["handoffs"])
    handoff = wait_for_handoff(shop)
    assert "under the mat" in shop.run("handoff", "show", "T-1").out
    by_hand(handoff)
    assert shop.run("handoff", "complete", "T-1").code == 0
    finish(shop, second.wait())


def test_a_stopped_task_keeps_its_work_and_goes_on_when_it_is_let(shop: Workshop) -> None:
    shop.plan({"id": "T-1", "description": f"$ echo half > T-1.txt\n$ echo busy >> $LOG\n$ {WAIT}"}, {"id": "T-2"})
    running = shop.start("run")
    shop.wait_for(lambda: "busy" in shop.log())
    said = shop.run("say", "T-1", "use  tabs\n please")
    assert (said.code, said.out.splitlines()[0]) == (0, "the next attempt at T-1 is told"), said.err
    stopped = shop.run("stop", "T-1", "--reason", "wrong way")
    assert (stopped.code, stopped.out.split(";")[0]) == (0, "T-1 is being stopped")
    ended = running.wait()
    assert (ended.code, ended.statuses) == (1, {"T-1": "human_loop", "T-2": "done"})
    assert shop.processes() == []
    (saved,) = [ref for ref in shop.repository.refs() if ref.startswith("refs/whilly/wip/t-1")]
    assert shop.repository.git("show", f"{saved}:T-1.txt") == "half"
    assert "wrong way" in told(shop, "why", "T-1")["sentence"]
    events = [event["event"] for event in told(shop, "timeline", "T-1")["events"]]
    assert [each for each in events if each in {"told", "stop_requested"}] == ["told", "stop_requested"]
    assert shop.run("stop", "T-1").code == 1
    shop.let_go()
    assert shop.run("retry", "T-1").code == 0
    finish(shop, shop.run("run"))
    prompts = sorted((shop.repository.root / ".whilly" / "attempts").glob("t-1*/*/stdin"))
    assert ["use tabs please" in path.read_text(encoding="utf-8") for path in prompts] == [False, True]


def test_a_task_is_stopped_when_no_whilly_is_there_to_do_it(shop: Workshop) -> None:
    shop.plan({"id": "T-1", "description": f"$ echo half > T-1.txt\n$ echo busy >> $LOG\n$ {WAIT}"})
    running = shop.start("run")
    shop.wait_for(lambda: "busy" in shop.log())
    running.kill()
    assert shop.processes()
    stopped = shop.run("stop", "T-1")
    assert (stopped.code, stopped.out.split(";")[0]) == (0, "T-1 is stopped"), stopped.err
    assert shop.processes() == []
    (saved,) = [ref for ref in shop.repository.refs() if ref.startswith("refs/whilly/wip/t-1")]
    assert shop.repository.git("show", f"{saved}:T-1.txt") == "half"
    shop.let_go()
    assert shop.run("retry", "T-1").code == 0
    finish(shop, shop.run("run"))


def test_a_word_before_the_beginning_is_in_the_first_prompt(shop: Workshop) -> None:
    shop.plan({"id": "T-1", **BUSY}, {"id": "T-2", "dependencies": ["T-1"]})
    running = shop.start("run")
    shop.wait_for(lambda: "busy" in shop.log())
    assert shop.run("say", "T-2", "mind the gap").code == 0
    shop.let_go()
    finish(shop, running.wait())
    (prompt,) = (shop.repository.root / ".whilly" / "attempts").glob("t-2*/1/stdin")
    assert "mind the gap" in prompt.read_text(encoding="utf-8")
    refused = shop.run("say", "T-2", "too late")
    assert (refused.code, "T-2 is done" in refused.err) == (1, True)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("stop", "T-7"), 4, "there is no task 'T-7' in plan shop"),
        (("stop", "T-1", "--plan", "tasks.json"), 1, "T-1 cannot be stopped: nothing is being done for T-1"),
        (("stop", "T-1", "--plan", "none"), 4, "there is no plan 'none' in the ledger"),
        (("stop", "T-1", "--plan", "shop"), 4, "there are several plans 'shop' in the ledger"),
        (("say", "T-7", "x"), 4, "there is no task 'T-7'"),
        (("say", "T-1", " \n "), 4, "there is nothing to say"),
        (("say", "T-1", "x", "--plan", "tasks.json"), 1, "T-1 cannot be told: T-1 is done"),
        (("attach", "T-7"), 4, "there is no task 'T-7'"),
        (("attach", "T-1", "--plan", "tasks.json"), 1, "nothing is being done for it, it is done"),
        (("attach",), 1, "nothing is being done in this plan"),
        (("handoff", "show", "T-1"), 4, "nothing was handed over as 'T-1'"),
        (("handoff", "complete", "T-7"), 4, "nothing was handed over as 'T-7'"),
        (("handoff", "complete", "T-1", "--status", "merged"), 4, "'merged' is not one of"),
        (("handoff", "complete", "T-1", "--cost-usd", "-1"), 4, "-1.0 is not in the range"),
    ],
)
def test_what_cannot_be_is_refused_clearly(finished: Workshop, words: tuple[str, ...], code: int, said: str) -> None:
    ended = finished.run(*words)
    assert (ended.code, said in ended.err) == (code, True), ended.err
    assert ended.out == ""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, test_environment: Any) -> Any:  # noqa: ANN401  (a generator)
    made = Workshop.make(tmp_path_factory.mktemp("finished"), test_environment["PATH"])
    made.plan({"id": "T-1"})
    made.plan({"id": "T-9"}, name="other.json")
    assert made.run("run", "tasks.json", "other.json").code == 0
    yield made
    made.close()


@pytest.mark.parametrize("task", ["T-1", "t-9"])
def test_without_a_plan_s_name_it_is_one_that_has_the_task(finished: Workshop, task: str) -> None:
    for words in (("timeline",), ("why",), ("logs",)):
        told = finished.run(*words, task, "--json")
        assert (told.code, f'"id": "{task.upper()}"' in told.out) == (0, True), told.out + told.err
    for words in (("cancel",), ("retry",), ("stop",), ("attach",)):
        assert f"{task.upper()}" in (refused := finished.run(*words, task)).err, refused.err
        assert "there is no task" not in refused.err


def test_reading_along_shows_what_the_agent_does_until_it_ends(shop: Workshop) -> None:
    script = f"$ echo first words\n$ echo busy >> $LOG\n$ {WAIT}\n$ echo x > x; echo last words"
    shop.plan({"id": "T-1", "description": script})
    running = shop.start("run")
    shop.wait_for(lambda: "busy" in shop.log())
    reading, objects = shop.start("attach", "T-1"), shop.start("attach", "--json")
    shop.wait_for(lambda: "first words" in reading.out and "first words" in objects.out)
    shop.let_go()
    ended = reading.wait()
    assert ended.code == 0
    assert ended.out.splitlines()[1:] == ["first words", "last words", "<promise>COMPLETE</promise>", "completed"]
    assert [each["text"] for each in objects.wait().objects("activity")] == ended.out.splitlines()[1:-1]
    finish(shop, running.wait())


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed → apt install tmux")
def test_with_tmux_each_agent_has_a_pane_and_nothing_is_left(shop: Workshop) -> None:
    script = f"$ echo here is NAME\n$ {WAIT}\n$ echo NAME > NAME"
    shop.plan(*({"id": name, "description": script.replace("NAME", name)} for name in "AB"))
    running = shop.start("run")
    shop.wait_for(lambda: len(shop.log()) == 2)
    environ = {**shop.environ, "TERM": "xterm", "SHELL": "/bin/sh", "LANG": "C.UTF-8"}
    command = [sys.executable, "-m", "whilly", "attach", "--tmux"]
    with closing(TerminalProgram(command, str(shop.repository.root), environ, (100, 30))) as screen:
        pattern = f"whilly-{screen._process.pid}-*"
        places = Path(tempfile.gettempdir())
        shop.wait_for(lambda: (screen._read(0.05), list(places.glob(f"{pattern}/tmux")))[1])
        tmux = ["tmux", "-S", str(next(places.glob(f"{pattern}/tmux")))]
        shop.wait_for(lambda: (screen._read(0.05), sorted(find_panes(tmux)) == ["A: here is A", "B: here is B"])[1])
        screen.press(b"\x02d")
        assert screen.wait(20) == 0
    assert list(places.glob(pattern)) == []
    assert [each for each in psutil.process_iter() if is_tmux(each, tmux[-1])] == []
    shop.let_go()
    finish(shop, running.wait())


def find_panes(tmux: list[str]) -> list[str]:
    """The panes' titles, with what their agents have said."""
    form = ["list-panes", "-a", "-F", "#{pane_id} #{pane_title}"]
    listed = subprocess.run([*tmux, *form], capture_output=True, text=True, check=False)
    found = []
    for line in listed.stdout.splitlines():
        pane, _, title = line.partition(" ")
        shown = subprocess.run([*tmux, "capture-pane", "-p", "-t", pane], capture_output=True, text=True, check=False)
        found += [f"{title}: {line}" for line in shown.stdout.splitlines() if line.startswith("here is")]
    return found


def is_tmux(process: psutil.Process, server: str) -> bool:
    try:
        return server in process.cmdline()
    except psutil.Error:
        return False


def test_a_full_disk_lets_agents_wait_and_ends_nothing(shop: Workshop) -> None:
    shop.plan({"id": "T-1"})
    shop.settings("[machine]\nmin_free_disk_gb = 100000")
    running = shop.start("run")
    shop.wait_for(lambda: running.out and "the disk is nearly full" in told(shop, "why", "T-1")["sentence"])
    (active,) = told(shop, "status")["running"]
    assert (active["is_under_way"], "machine.min_free_disk_gb is 100000" in active["hold"]) == (False, True)
    assert "the disk is nearly full" in shop.run("status").out
    assert running.process.poll() is None
    running.interrupt()
    assert running.wait(20).code == 130
    shop.settings()
    finish(shop, shop.run("run"))
