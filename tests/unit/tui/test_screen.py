"""The live screen on a real pseudo-terminal: what a person sees, and that the terminal comes back as it was."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no pseudo-terminals that tests could use", allow_module_level=True)

from whilly.testing.terminal import Display, TerminalProgram

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PROGRAM = """
import sys, time
from datetime import datetime, timedelta, UTC
from decimal import Decimal
from whilly.adapters.system.clock import SystemClock
from whilly.application.telling.progress import Active, Progress
from whilly.domain.flow.plan_run import PlanPhase
from whilly.domain.work_item import ItemStatus
from whilly.tui.screen import Screen

NOW = datetime(2026, 5, 2, 12, tzinfo=UTC)
title = "Title [red]x[/red] \\x1b[2J \\u65e5\\u672c"
active = Active("T-1", title, "execute", 1, "claude", NOW, True, last_action="edit a.py")
counts = {ItemStatus.IN_PROGRESS: 1, ItemStatus.DONE: 1}
progress = Progress("p", "Shop", "tasks.json", NOW, phase=PlanPhase.ACTIVE, counts=counts, active=(active,))
with Screen(sys.stdout, SystemClock()) as screen:
    print("kept back", file=sys.stderr)
    for number in range(10_000):
        screen.show(progress)
        time.sleep(0.05)
        if sys.stdin in __import__("select").select([sys.stdin], [], [], 0)[0]:
            word = sys.stdin.readline().strip()
            if word == "raise":
                raise RuntimeError("on purpose")
            break
    screen.finish(progress, 1, "reports/shop.md")
"""


@pytest.fixture
def program(tmp_path: Path, test_environment: Mapping[str, str]) -> Iterator[TerminalProgram]:
    env = {"PATH": test_environment["PATH"], "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "HOME": str(tmp_path)}
    with closing(TerminalProgram([sys.executable, "-c", PROGRAM], str(tmp_path), env, (60, 12))) as running:
        yield running


def is_drawn(display: Display) -> bool:
    return display.is_alternate and "edit a.py" in display.text()


def test_the_screen_shows_what_is_done_and_leaves_a_summary(program: TerminalProgram) -> None:
    program.wait_for(is_drawn)
    assert not program.display.is_cursor_visible
    assert program.display.lines()[:6] == [
        f"whilly Shop{'0s':>49}",
        "━━━━━━━━─────── 1/2 done · 1 running",
        "cost $0.00, no budget",
        "1 agent at work",
        "Running (1)",
        "  T-1        execute #1      0s $0.00",
    ]
    program.press(b"\n")
    assert program.wait() == 0
    assert "Shop: 1 of 2 done" in program.display.text()
    assert "report: reports/shop.md" in program.display.text()
    assert "kept back" in program.display.text()
    assert program.is_restored()
    assert program.display.unknown == []


def test_another_size_is_filled_at_the_next_frame(program: TerminalProgram) -> None:
    program.wait_for(is_drawn)
    program.resize(100, 30)
    program.wait_for(lambda display: "execute #1 claude" in display.text() and "Title [red]x[/red]" in display.text())
    program.resize(40, 8)
    program.wait_for(is_drawn)
    program.press(b"\n")
    assert program.wait() == 0
    assert program.is_restored()


def test_an_error_gives_the_terminal_back_and_can_be_read(program: TerminalProgram) -> None:
    program.wait_for(is_drawn)
    program.press(b"raise\n")
    assert program.wait() == 1
    assert "RuntimeError: on purpose" in program.display.text()
    assert program.is_restored()


def test_ctrl_c_gives_the_terminal_back(program: TerminalProgram) -> None:
    program.wait_for(is_drawn)
    program.press(b"\x03")
    assert program.wait() in {1, 130, -2}
    assert "KeyboardInterrupt" in program.display.text()
    assert program.is_restored()


def test_colours_are_left_out_where_people_do_not_want_them(
    tmp_path: Path, test_environment: Mapping[str, str]
) -> None:
    env = {"PATH": test_environment["PATH"], "TERM": "xterm-256color", "HOME": str(tmp_path)}
    with closing(TerminalProgram([sys.executable, "-c", PROGRAM], str(tmp_path), {**env, "NO_COLOR": "1"})) as plain:
        plain.wait_for(is_drawn)
        assert plain.display.colours == set()
        plain.press(b"\n")
        plain.wait()
    with closing(TerminalProgram([sys.executable, "-c", PROGRAM], str(tmp_path), env)) as coloured:
        coloured.wait_for(is_drawn)
        assert coloured.display.colours != set()
        coloured.press(b"\n")
        coloured.wait()
