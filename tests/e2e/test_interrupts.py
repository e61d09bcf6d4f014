"""Ctrl-C and SIGTERM: nothing new starts, nothing is lost, nothing is left, and the next run goes on."""

from __future__ import annotations

import signal
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no sessions and no pseudo-terminals", allow_module_level=True)


from whilly.testing.terminal import TerminalProgram
from whilly.testing.workshop import WAIT

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.testing.workshop import Workshop


def once(item: str, *lines: str) -> dict[str, object]:
    """A task that does these lines the first time only, and then its work."""
    first = "\n".join(f"$   {line}" for line in lines)
    unless = f'$ if mkdir "$WORLD/{item}-was-here" 2>/dev/null; then\n{first}\n$ fi'
    return {"id": item, "description": f"{unless}\n$ echo {item} >> {item}.txt"}


STUBBORN = (
    "echo half > half.txt",
    "trap '' TERM INT HUP",
    "setsid sh -c 'trap \"\" TERM; sleep 600; :' & (setsid sh -c '(sleep 600; :) & sleep 600' &) &",
    "echo ready >> $LOG; while :; do sleep 600; done",
)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_once_saves_what_was_begun_and_the_next_run_goes_on(shop: Workshop, number: signal.Signals) -> None:
    shop.plan(once("A", "echo half > half.txt", "echo ready >> $LOG", "sleep 600"), {"id": "B", "dependencies": ["A"]})
    first = shop.start("run")
    shop.wait_for(lambda: "ready" in shop.log())
    first.interrupt(number)
    ended = first.wait(20)
    assert ended.code == 130, ended.err
    assert ended.complete["exit_code"] == 130
    assert ended.statuses == {"A": "in_progress", "B": "pending"}
    assert shop.processes() == []
    (saved,) = [ref for ref in shop.repository.refs() if ref.startswith("refs/whilly/wip/")]
    assert shop.repository.git("show", f"{saved}:half.txt") == "half"

    again = shop.run("run")
    assert (again.code, again.statuses) == (0, {"A": "done", "B": "done"}), again.err
    assert shop.integrated() == ["A", "B"]
    assert shop.repository.git("show", "whilly/shop:A.txt") == "A"
    assert shop.log().count("start A execute") == 2


def test_an_agent_that_does_not_want_to_end_is_ended_with_all_that_it_started(shop: Workshop) -> None:
    shop.plan(once("A", *STUBBORN))
    first = shop.start("run")
    shop.wait_for(lambda: "ready" in shop.log())
    assert len(shop.processes()) >= 5
    first.interrupt()
    ended = first.wait(20)
    assert (ended.code, shop.processes()) == (130, [])
    assert shop.run("run").code == 0


def test_twice_is_at_once(shop: Workshop) -> None:
    shop.settings("[agent]\ngrace_s = 60\n")
    shop.plan(once("A", *STUBBORN), once("B", *STUBBORN))
    first = shop.start("run")
    shop.wait_for(lambda: shop.log().count("ready") == 2)
    first.interrupt()
    shop.wait_for(lambda: '"plan_stopping"' in first.out)
    first.interrupt(signal.SIGTERM)
    ended = first.wait(20)
    assert (ended.code, shop.processes()) == (130, [])
    assert len([ref for ref in shop.repository.refs() if ref.startswith("refs/whilly/wip/")]) == 2


def test_before_anything_has_begun_it_just_ends(shop: Workshop) -> None:
    probe = shop.world / "slow"
    probe.write_text("#!/bin/sh\ntouch $WORLD/asked; exec sleep 600\n", encoding="utf-8")
    probe.chmod(0o755)
    shop.settings(
        f'[agent]\nname = "slow"\n[agents.slow]\nargv = ["{probe}"]\nenv_set = {{ WORLD = "{shop.world}" }}\n'
    )
    shop.plan({"id": "A"})
    for number in (signal.SIGINT, signal.SIGTERM):
        running = shop.start("run")
        shop.wait_for((shop.world / "asked").exists)
        running.interrupt(number)
        ended = running.wait(10)
        assert (ended.code, ended.out, ended.err) == (130, "", "whilly: interrupted\n")
        (shop.world / "asked").unlink()
    assert shop.repository.refs().keys() == {"refs/heads/main"}


def test_while_it_starts_nothing_is_started_any_more(shop: Workshop) -> None:
    shop.plan({"id": "A"})
    running = shop.start("run")
    shop.wait_for((shop.repository.root / ".whilly" / "whilly.db").exists)
    running.interrupt()
    ended = running.wait(20)
    assert (ended.code, ended.complete["exit_code"], shop.log()) == (130, 130, []), ended.err
    assert shop.repository.git("rev-parse", "whilly/shop") == shop.repository.git("rev-parse", "main")


def test_a_check_is_ended_with_all_that_it_started_and_run_again(shop: Workshop) -> None:
    daemon = "(setsid sh -c 'trap \"\" TERM; sleep 600; :' &)"
    hang = f"if mkdir {shop.world}/checked; then {daemon}; trap '' TERM; sleep 600; fi"
    shop.plan({"id": "A", "test_steps": [hang]})
    running = shop.start("run")
    shop.wait_for(lambda: (shop.world / "checked").exists() and len(shop.processes()) >= 3)
    running.interrupt()
    ended = running.wait(20)
    assert (ended.code, ended.seconds < 20, shop.processes()) == (130, True, [])
    assert list((shop.repository.root / ".whilly" / "checkouts").iterdir()) == []
    again = shop.run("run")
    assert (again.code, shop.log()) == (0, ["start A execute", "end A execute"]), again.err


def test_an_integration_is_ended_and_done_again_once(shop: Workshop) -> None:
    """B is verified as merged with A, which is where it is caught."""
    caught = f"if test -e A.txt && test -e B.txt && mkdir {shop.world}/once; then sleep 600; fi"
    shop.settings(f"[profile]\nverify = ['{caught}']\n")
    shop.plan({"id": "A"}, {"id": "B", "description": f"$ {WAIT}\n$ echo B > B.txt"})
    running = shop.start("run")
    shop.wait_for(lambda: shop.integrated() == ["A"])
    shop.let_go()
    shop.wait_for((shop.world / "once").exists)
    running.interrupt()
    assert (running.wait(20).code, shop.integrated(), shop.processes()) == (130, ["A"], [])
    again = shop.run("run")
    assert (again.code, shop.integrated()) == (0, ["A", "B"]), again.err
    assert shop.log().count("start B execute") == 1


def test_on_a_terminal_two_ctrl_c_give_it_back_at_once(shop: Workshop) -> None:
    shop.settings("[agent]\ngrace_s = 60\n")
    shop.plan(once("A", *STUBBORN))
    argv = [sys.executable, "-m", "whilly", "run"]
    env = {**shop.environ, "TERM": "xterm-256color"}
    with closing(TerminalProgram(argv, str(shop.repository.root), env, (100, 30))) as program:
        program.wait_for(lambda display: "1 agent at work" in display.text())
        shop.wait_for(lambda: "ready" in shop.log())
        program.press(b"\x03")
        program.wait_for(lambda display: "waiting for 1 attempt to end" in display.text())
        program.press(b"\x03")
        assert program.wait(20) == 130
        assert program.is_restored()
        assert "stopped: interrupted" in program.display.text()
    assert shop.processes() == []


def test_the_plans_that_were_not_begun_count(shop: Workshop) -> None:
    shop.plan({"id": "A", "description": f"$ {WAIT}\n$ trap '' TERM\n$ sleep 0.3\n$ echo A > A.txt"})
    shop.plan({"id": "B"}, name=".planning/more-tasks.json", project="more")
    running = shop.start("run", "--all", "--parallel", "1")
    shop.wait_for(shop.log)
    shop.let_go()
    running.interrupt()
    ended = running.wait(20)
    assert ended.code == 130, ended.err
    assert [complete["exit_code"] for complete in ended.objects("complete")][-1] == 130
    assert "start B execute" not in shop.log()


_SHADOW = """
import importlib, os, signal, sys
sys.path.remove({folder!r})
del sys.modules[__name__]
os.kill(os.getpid(), {number})
sys.modules[__name__] = importlib.import_module(__name__)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("command", "module"),
    [*((command, module) for command in ("run", "status") for module in ("click", "sqlalchemy")), ("run", "dbos")],
)
def test_a_signal_in_the_first_moments_is_obeyed(
    shop: Workshop, tmp_path: Path, command: str, module: str, number: signal.Signals
) -> None:
    """A module with the name of one that Whilly imports sends the signal at that very moment, and then stands back."""
    shop.plan({"id": "A"})
    shop.run("run", "--timeout", "0.001")
    folder = tmp_path / "shadows"
    folder.mkdir()
    (folder / f"{module}.py").write_text(_SHADOW.format(folder=str(folder), number=int(number)))
    ended = shop.start(command, PYTHONPATH=str(folder)).wait()
    assert ended.code == 130, ended.err
    assert "Traceback" not in ended.err
    assert "whilly: interrupted\n" in ended.err or '"complete"' in ended.out
