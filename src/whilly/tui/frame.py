"""One frame of the live display: a plan's progress as lines that fit a given width and height."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from whilly.application.telling.progress import headline, name_whom
from whilly.domain.flow.plan_run import PlanPhase
from whilly.domain.work_item import ItemStatus
from whilly.tui.neutral import one_line
from whilly.tui.words import clock_time, dollars, duration, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whilly.application.telling.progress import Active, Money, Progress, Settled, Waiting

WIDE = 76
"""Columns from which a running item has everything on one line."""

QUIET = timedelta(seconds=30)
"""An agent that showed nothing for longer is said to be quiet."""

MOST = 100
"""Lines of a section that are made; no terminal is higher by much."""

_GREEN_UP_TO = 0.5
_YELLOW_UP_TO = 0.8
_ID_CELLS = 16
_FACT_CELLS = 28
_STATUS_STYLES = {
    ItemStatus.DONE: "green",
    ItemStatus.FAILED: "red",
    ItemStatus.BLOCKED: "red",
    ItemStatus.SKIPPED: "yellow",
}


@dataclass(frozen=True, slots=True)
class Section:
    """Lines under a heading.

    Attributes:
        total: how many things there are; lines may be fewer, or more.
        least: how many lines are shown before other sections get more than theirs.
    """

    name: str
    style: str
    total: int
    lines: Sequence[Text]
    least: int
    has_latest_last: bool = False

    @property
    def heading(self) -> Text:
        """The line above."""
        return Text(f"{self.name} ({self.total})", style=f"bold {self.style}".strip())


def render_frame(progress: Progress, width: int, height: int) -> list[Text]:
    """At most `height` lines, none wider than `width` cells."""
    head = render_head(progress, width)
    body = _fit(sections(progress, width, MOST), height - len(head))
    return [_cut(line, width) for line in [*head, *body][:height]]


def render_head(progress: Progress, width: int) -> list[Text]:
    """The plan, its counts, its money, and what is being waited for."""
    head = [_title_line(progress, width), _count_line(progress, width), _money_line(progress.money, width)]
    return [*head, Text(one_line(headline(progress)), style="italic")]


def bar(share: float, cells: int, style: str) -> Text:
    """A bar of `cells` cells, filled to `share` (0 to 1, more is full)."""
    filled = min(cells, max(0, round(share * cells)))
    return Text.assemble(("━" * filled, style), ("─" * (cells - filled), "dim"))


def money_style(share: float) -> str:
    """Green up to half of the budget, yellow up to 80 %, then red."""
    if share <= _GREEN_UP_TO:
        return "green"
    return "yellow" if share <= _YELLOW_UP_TO else "red"


def _title_line(progress: Progress, width: int) -> Text:
    right = duration(progress.elapsed)
    name = Text.assemble(("whilly ", "bold"), (one_line(progress.name), "bold"))
    if progress.target:
        name.append(f" → {one_line(progress.target)}", style="dim")
    room = max(1, width - cell_len(right) - 1)
    name.truncate(room, overflow="ellipsis", pad=True)
    return Text.assemble(name, " ", (right, "bold"))


def _count_line(progress: Progress, width: int) -> Text:
    done, total = progress.count(ItemStatus.DONE), progress.total
    line = bar(done / total if total else 0, max(5, min(30, width // 4)), "green")
    line.append(f" {done}/{total} done", style="bold")
    parts = [
        (len(progress.active), "begun" if is_resting(progress) else "running", "cyan"),
        (len(progress.waiting), "waiting", "yellow"),
        (progress.count(ItemStatus.PENDING), "queued", ""),
        (progress.count(ItemStatus.FAILED), "failed", "red"),
        (progress.count(ItemStatus.BLOCKED), "blocked", "red"),
        (progress.count(ItemStatus.SKIPPED), "skipped", "yellow"),
    ]
    for number, word, style in parts:
        if number:
            line.append(" · ").append(f"{number} {word}", style=style)
    return line


def _money_line(money: Money, width: int) -> Text:
    reserved = f" (+ {dollars(money.reserved)} reserved)" if money.reserved else ""
    if money.budget is None:
        return Text(f"cost {dollars(money.spent)}{reserved}, no budget", style="dim")
    style = money_style(money.share)
    line = bar(money.share, max(5, min(30, width // 4)), style)
    line.append(f" {dollars(money.spent)} of {dollars(money.budget)}", style=style)
    return line.append(f" {money.share:.0%}{reserved}")


def sections(progress: Progress, width: int, most: int) -> list[Section]:
    """What there is to say about the tasks, the most important first; at most `most` of each kind but running ones."""
    facts = [_facts(active, width) for active in progress.active]
    cells = min(_FACT_CELLS, max(map(cell_len, facts), default=0))
    running = [
        line
        for active, told in zip(progress.active, facts, strict=True)
        for line in _active_lines(active, told, width, cells)[: 1 if is_resting(progress) else 2]
    ]
    queue = _rows(((q.item, q.title, q.reason) for q in progress.queue[:most]), width, "dim")
    undone = [_settled_line(each, width) for each in progress.undone[:most]]
    done = [_settled_line(each, width) for each in progress.done[-most:]]
    waiting = [_waiting_line(each, progress, width) for each in progress.waiting[:most]]
    return [
        Section("Begun" if is_resting(progress) else "Running", "cyan", len(progress.active), running, len(running)),
        Section("Waiting", "yellow", len(progress.waiting), waiting, 3),
        Section("Failed, blocked, skipped", "red", len(progress.undone), undone, 5),
        Section("Queue", "", len(progress.queue), queue, 5),
        Section("Done", "green", len(progress.done), done, 3, has_latest_last=True),
    ]


def is_resting(progress: Progress) -> bool:
    """Whether nobody works on the plan, so that what was begun is not running."""
    return progress.phase is PlanPhase.IDLE


def _fit(sections: Iterable[Section], height: int) -> list[Text]:
    """Headings and lines of the sections within `height`; the last ones go when there is no room for them."""
    shown = [section for section in sections if section.lines]
    given = _share(shown, height - len(shown))
    while shown and not given[-1]:
        shown.pop()
        given = _share(shown, height - len(shown))
    lines: list[Text] = []
    for section, count in zip(shown, given, strict=True):
        if count:
            lines.append(section.heading)
            lines += section.lines[-count:] if section.has_latest_last else section.lines[:count]
    return lines


def _share(sections: Sequence[Section], room: int) -> list[int]:
    """How many lines each section gets: first what each needs least, then more from above."""
    given = [0] * len(sections)
    for wanted in ([section.least for section in sections], [len(section.lines) for section in sections]):
        for number, section in enumerate(sections):
            more = max(0, min(wanted[number], len(section.lines)) - given[number])
            more = min(more, max(room, 0))
            given[number] += more
            room -= more
    return given


def _facts(active: Active, width: int) -> str:
    agent = active.agent if width >= WIDE else ""
    return one_line(f"{active.stage} #{active.number} {agent}", _FACT_CELLS)


def _active_lines(active: Active, facts: str, width: int, cells: int) -> list[Text]:
    """Two lines: the item and its numbers, and what its agent did last; a narrow terminal has fewer numbers."""
    line = Text("  ").append(_column(active.item, _ID_CELLS if width >= WIDE else 10), style="bold")
    line.append(f" {_column(facts, cells)} ", style="cyan").append(f"{duration(active.elapsed):>7} ")
    line.append(_spent(active, width), style="dim")
    told = _told(active)
    if width >= WIDE:
        line.append(" ").append(one_line(active.title), style="dim")
    return [line, Text("    ↳ ", style="dim").append(told)]


def _spent(active: Active, width: int) -> str:
    if width < WIDE:
        return dollars(active.spent)
    used = f"{tokens(active.tokens)} tok " if active.tokens else ""
    return used + dollars(active.spent) + (f"+{dollars(active.reserved)}" if active.reserved else "")


def _told(active: Active) -> str:
    if not active.is_under_way:
        return f"waits: {one_line(active.hold)}" if active.hold else "the next attempt is about to start"
    action = one_line(active.last_action) or (
        "started; nothing heard yet" if active.agent else f"{active.stage} is under way"
    )
    return f"{action} (quiet for {duration(active.quiet)})" if active.agent and active.quiet >= QUIET else action


def _waiting_line(waiting: Waiting, progress: Progress, width: int) -> Text:
    if waiting.until:
        left = duration(waiting.until - progress.at)
        when = f"until {clock_time(waiting.until, progress.at)} ({left})"
    else:
        whom = f"for {one_line(name_whom(waiting.whom))}"
        when = f"{whom} since {clock_time(waiting.since, progress.at)}" if waiting.since else whom
    return _row(waiting.item, f"{when}: {one_line(waiting.reason)}", one_line(waiting.title), width, "yellow")


def _settled_line(settled: Settled, width: int) -> Text:
    mark = {ItemStatus.DONE: "✓", ItemStatus.FAILED: "✗"}.get(settled.status, "-")
    told = f"{settled.status}: {one_line(settled.reason)}" if settled.reason else str(settled.status)
    if settled.status is ItemStatus.DONE:
        took = duration(settled.took) if settled.took is not None else ""
        told = f"{took} {dollars(settled.spent)}".strip()
    line = Text(f"{mark} ", style=_STATUS_STYLES.get(settled.status, ""))
    return line.append_text(_row(settled.item, told, one_line(settled.title), width - 2, "", indent=""))


def _rows(rows: Iterable[tuple[str, str, str]], width: int, style: str) -> list[Text]:
    return [_row(item, one_line(reason), one_line(title), width, style) for item, title, reason in rows]


def _row(item: str, told: str, title: str, width: int, style: str, *, indent: str = "  ") -> Text:
    """Id, title and what is told of it; a narrow terminal shows no title."""
    line = Text(indent).append(_column(item, _ID_CELLS if width >= WIDE else 10), style="bold").append(" ")
    if width >= WIDE and title:
        room = max(10, (width - _ID_CELLS - 4) // 2)
        line.append(set_cell_size(title, room) if cell_len(title) <= room else _ellipsis(title, room)).append(" ")
    return line.append(told, style=style)


def _column(text: str, cells: int) -> str:
    shown = one_line(text, 200)
    return set_cell_size(shown, cells) if cell_len(shown) <= cells else _ellipsis(shown, cells)


def _ellipsis(text: str, cells: int) -> str:
    return set_cell_size(set_cell_size(text, cells - 1).rstrip() + "…", cells)


def _cut(line: Text, width: int) -> Text:
    line.truncate(width, overflow="ellipsis")
    line.no_wrap = True
    line.end = ""
    return line
