"""The live display, held to what it shows at fixed sizes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len
from tests.unit.tui.conftest import NASTY

from whilly.application.telling.progress import Money, Progress, headline
from whilly.domain.flow.plan_run import PlanPhase, StopReason
from whilly.domain.ids import ItemId
from whilly.tui.frame import money_style, render_frame

if TYPE_CHECKING:
    from datetime import datetime

WIDE = """\
whilly Shop → whilly/shop                                                                12m 00s
━━━━━─────────────────── 2/9 done · 2 running · 1 waiting · 2 queued · 1 failed · 1 blocked
━━━━━━━━━━━━━━━───────── $3.10 of $5.00 62% (+ $1.00 reserved)
1 agent at work, 1 check or merge under way
Running (2)
  T-3              execute #1 claude  3m 07s 12.3k tok $0.00+$1.00 Draw the cart
    ↳ edit src/cart.py (quiet for 45s)
  T-4              verify #2              9s $0.25 Sum it up
    ↳ verify is under way
Waiting (1)
  T-5              Pay                                    until {until} (2h 05m): usage limit …
Failed, blocked, skipped (2)
✗ T-8              Search                                failed: checks failed: `make` failed
- T-9              Sort                                  blocked: depends on T-8, which failed
Queue (2)
  T-6              Ship                                   depends on T-5, which is running
  T-7              Thank                                  no free slot
Done (2)
✓ T-1              Set up                                1m 01s $0.10
✓ T-2              Log in                                5s $0.0040"""

NARROW = """\
whilly Shop → whilly/shop        12m 00s
━━──────── 2/9 done · 2 running · 1 wai…
━━━━━━──── $3.10 of $5.00 62% (+ $1.00 …
1 agent at work, 1 check or merge under…
Running (2)
  T-3        execute #1  3m 07s $0.00
    ↳ edit src/cart.py (quiet for 45s)
  T-4        verify #2       9s $0.25
    ↳ verify is under way
Waiting (1)
  T-5        until {until} (2h 05m): u…
Failed, blocked, skipped (2)
✗ T-8        failed: checks failed: `ma…
- T-9        blocked: depends on T-8, w…
Queue (2)
  T-6        depends on T-5, which is r…"""


def draw(progress: Progress, width: int, height: int) -> str:
    return "\n".join(line.plain.rstrip() for line in render_frame(progress, width, height))


def local(moment: datetime) -> str:
    return moment.astimezone().strftime("%H:%M:%S")


def test_a_wide_terminal_shows_everything(progress: Progress) -> None:
    assert draw(progress, 96, 40) == WIDE.format(until=local(progress.at + timedelta(hours=2, minutes=5)))


def test_a_narrow_and_low_terminal_shows_what_matters_most(progress: Progress) -> None:
    assert draw(progress, 40, 16) == NARROW.format(until=local(progress.at + timedelta(hours=2, minutes=5)))


@pytest.mark.parametrize("width", [1, 5, 20, 40, 75, 76, 80, 200])
@pytest.mark.parametrize("height", [1, 3, 4, 5, 8, 24])
def test_a_frame_never_leaves_the_terminal(progress: Progress, width: int, height: int) -> None:
    many = replace(
        progress,
        name=NASTY,
        active=tuple(replace(each, title=NASTY, last_action=NASTY) for each in progress.active * 20),
        queue=tuple(replace(each, item=ItemId(NASTY), title=NASTY) for each in progress.queue * 200),
        undone=tuple(replace(each, reason=NASTY) for each in progress.undone * 200),
    )
    lines = render_frame(many, width, height)
    assert len(lines) <= height
    assert max(cell_len(line.plain) for line in lines) <= width
    assert all(each.isprintable() for line in lines for each in line.plain)


def test_markup_in_a_title_is_text(progress: Progress) -> None:
    marked = replace(progress, active=(replace(progress.active[0], title="[bold]x[/bold] [link=evil]"),))
    assert "[bold]x[/bold] [link=evil]" in draw(marked, 120, 30)


@pytest.mark.parametrize(
    ("spent", "style"), [("2.5", "green"), ("2.51", "yellow"), ("4", "yellow"), ("4.01", "red"), ("9", "red")]
)
def test_the_budget_bar_warns_by_its_colour(progress: Progress, spent: str, style: str) -> None:
    money = Money(Decimal(spent), Decimal(0), Decimal(5))
    assert money_style(money.share) == style
    line = render_frame(replace(progress, money=money), 96, 40)[2]
    assert style in {str(span.style) for span in line.spans}


def test_without_a_budget_the_cost_is_shown_alone(progress: Progress) -> None:
    assert "cost $3.10, no budget" in draw(replace(progress, money=Money(Decimal("3.10"))), 96, 40)


def test_long_work_says_what_is_waited_for(progress: Progress) -> None:
    assert headline(progress) == "1 agent at work, 1 check or merge under way"
    stopping = replace(progress, phase=PlanPhase.STOPPING, stop=StopReason.TIMEOUT)
    assert headline(stopping) == "stopping (timeout): waiting for 2 attempts to end and be saved"
    held = replace(progress, active=(replace(progress.active[0], is_under_way=False, hold="no money"),))
    assert headline(held) == "T-3 is about to go on: no money"
    until = local(progress.at + timedelta(hours=2, minutes=5))
    assert headline(replace(progress, active=())) == f"waiting until {until}: T-5: usage limit reached"
    asked = replace(progress.waiting[0], until=None, reason="which colour?")
    assert headline(replace(progress, active=(), waiting=(asked,))) == "waiting for a person: T-5: which colour?"
    idle = replace(progress, active=(), waiting=(), phase=PlanPhase.IDLE)
    assert headline(idle) == "nothing is running"


@pytest.mark.parametrize(
    ("source", "command"),
    [("tasks.json", "whilly run tasks.json"), ("https://github.com/ada/shop/issues/7", "whilly forge Shop")],
)
def test_what_was_begun_goes_on_by_the_command_of_its_plan(progress: Progress, source: str, command: str) -> None:
    begun = (replace(progress.active[0], is_under_way=False),)
    idle = replace(progress, phase=PlanPhase.IDLE, source=source, active=begun)
    assert headline(idle) == f"nobody is at work; 1 task that was begun goes on with the next `{command}`"


def test_the_latest_done_items_are_shown_when_there_is_no_room_for_all(progress: Progress) -> None:
    many = tuple(replace(progress.done[0], item=ItemId(f"D-{number}")) for number in range(90))
    shown = draw(replace(progress, active=(), waiting=(), queue=(), undone=(), done=many), 96, 10)
    assert "D-89" in shown
    assert "D-1 " not in shown


def test_what_was_begun_is_not_called_running_while_nobody_works(progress: Progress) -> None:
    between = tuple(replace(active, is_under_way=False) for active in progress.active)
    text = "\n".join(
        line.plain for line in render_frame(replace(progress, phase=PlanPhase.IDLE, active=between), 100, 40)
    )
    assert "nobody is at work" in text
    assert f"Begun ({len(between)})" in text
    assert "Running" not in text
