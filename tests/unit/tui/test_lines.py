"""Progress as lines: JSON for programs, plain text for people."""

from __future__ import annotations

import io
import json
import os
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TextIO

import pytest
from typing_extensions import override

from whilly.adapters.memory.clock import ManualClock
from whilly.tui.choose import Style, choose_view, fitting_style
from whilly.tui.json_lines import JsonLines
from whilly.tui.plain import Plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whilly.application.telling.progress import Progress

NUMBERS = {"done": 2, "total": 9, "failed": 1, "cost_usd": 3.1, "elapsed_sec": 720.0}


def read(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.fixture
def closed_pipe() -> Iterator[TextIO]:
    """Standard output whose reader has gone away."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", encoding="utf-8") as stream:
        yield stream


def test_progress_and_complete_have_the_predecessors_fields_and_say_where_the_work_is(progress: Progress) -> None:
    stream = io.StringIO()
    view = JsonLines(stream, ManualClock())
    quiet = replace(progress, news=(), take_over="git merge whilly/shop", warnings=("a disk is slow",))
    view.show(quiet)
    view.finish(quiet, 1, "reports/shop.md")
    more: dict[str, Any] = {"stop": None, "remedy": "", "target": "whilly/shop", "take_over": "git merge whilly/shop"}
    more |= {"pull_request": "", "written": []}
    more |= {"warnings": ["a disk is slow"]}
    assert read(stream) == [
        {"event": "progress", **NUMBERS},
        {"event": "complete", **NUMBERS, "report": "reports/shop.md", "exit_code": 1, **more},
    ]


def test_progress_is_told_every_ten_seconds_also_while_agents_are_at_work(progress: Progress) -> None:
    stream, clock = io.StringIO(), ManualClock()
    view = JsonLines(stream, clock)
    for _ in range(61):
        view.show(replace(progress, news=()))
        clock.advance(timedelta(seconds=0.5))
    assert [line["event"] for line in read(stream)] == ["progress"] * 4


def test_events_are_told_at_once_and_only_once(progress: Progress) -> None:
    stream = io.StringIO()
    view = JsonLines(stream, ManualClock())
    view.show(replace(progress, news=()))
    view.show(progress)
    view.show(replace(progress, news=()))
    assert read(stream)[1:] == [
        {
            "event": "budget_warning",
            "ts": "2026-05-02T12:00:00.000+00:00",
            "plan": "plan-1",
            "spent": 4.1,
            "budget": 5.0,
        }
    ]


def test_every_line_is_pushed_out_at_once(progress: Progress, tmp_path: object) -> None:
    with open(f"{tmp_path}/out", "w", encoding="utf-8", buffering=1 << 20) as stream:  # noqa: PTH123  (large buffer)
        JsonLines(stream, ManualClock()).show(progress)
        with open(f"{tmp_path}/out", encoding="utf-8") as seen:  # noqa: PTH123  (as above)
            assert len(seen.readlines()) == 2


@pytest.mark.parametrize("kind", [JsonLines, Plain])
def test_a_reader_that_goes_away_does_not_end_the_run(
    kind: type[JsonLines | Plain], progress: Progress, closed_pipe: TextIO
) -> None:
    clock = ManualClock()
    with kind(closed_pipe, clock) as view:
        view.show(progress)
        clock.advance(timedelta(minutes=1))
        view.show(progress)
        view.finish(progress, 0, "")


def test_plain_lines_tell_what_happens_and_how_things_stand(progress: Progress) -> None:
    stream, clock = io.StringIO(), ManualClock()
    with Plain(stream, clock) as view:
        view.show(progress)
        clock.advance(timedelta(seconds=29))
        view.show(replace(progress, news=()))
        clock.advance(timedelta(seconds=1))
        view.show(replace(progress, news=()))
        view.finish(replace(progress, news=()), 1, "r.md")
    assert stream.getvalue().splitlines() == [
        "12m 00s  budget warning",
        "12m 00s  2/9 done, $3.10, 1 agent at work, 1 check or merge under way",
        "12m 00s  2/9 done, $3.10, 1 agent at work, 1 check or merge under way",
        "Shop: 2 of 9 done in 12m 00s for $3.10",
        "  the work is on branch whilly/shop",
        "  ✗ T-8 failed: checks failed: `make` failed",
        "  ✗ T-9 blocked: depends on T-8, which failed",
        "  … T-5 waits: usage limit reached",
        "  whilly why T-8   says what happened",
        "  report: r.md",
    ]


class _Terminal(io.StringIO):
    @override
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "terminal", "style"),
    [
        (io.StringIO(), "xterm", Style.JSON),
        (_Terminal(), "xterm", Style.SCREEN),
        (_Terminal(), "", Style.SCREEN),
        (_Terminal(), "dumb", Style.PLAIN),
    ],
)
def test_the_way_of_showing_fits_the_stream(stream: TextIO, terminal: str, style: Style) -> None:
    assert fitting_style(stream, is_headless=False, terminal=terminal) is style
    assert fitting_style(stream, is_headless=True, terminal=terminal) is Style.JSON
    assert type(choose_view(stream, ManualClock(), style)).__name__.lower() == {"json": "jsonlines"}.get(style, style)
