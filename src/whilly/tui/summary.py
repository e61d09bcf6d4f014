"""What remains on the terminal when a run has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from whilly.domain.work_item import ItemStatus
from whilly.tui.neutral import one_line
from whilly.tui.words import dollars, duration

if TYPE_CHECKING:
    from whilly.application.telling.progress import Progress

_MANY = 20


def render_summary(progress: Progress, exit_code: int, report: str) -> list[Text]:
    """What was done, what was not and why, what it cost, and where to look next."""
    done = progress.count(ItemStatus.DONE)
    style = "bold green" if exit_code == 0 else "bold red"
    lines = [
        Text.assemble(
            (f"{one_line(progress.name)}: {done} of {progress.total} done", style),
            f" in {duration(progress.elapsed)} for {dollars(progress.money.spent)}",
        )
    ]
    lines += _render_outcome(progress, done)
    if progress.stop:
        lines.append(
            Text(f"  stopped: {progress.stop}" + (f" → {one_line(progress.remedy)}" if progress.remedy else ""))
        )
    for settled in progress.undone[:_MANY]:
        told = f": {one_line(settled.reason)}" if settled.reason else ""
        lines.append(Text.assemble(("  ✗ ", "red"), (one_line(settled.item), "bold"), f" {settled.status}{told}"))
    if len(progress.undone) > _MANY:
        lines.append(Text(f"  … and {len(progress.undone) - _MANY} more"))
    lines += [
        Text(f"  … {one_line(waiting.item)} waits: {one_line(waiting.reason)}", style="yellow")
        for waiting in progress.waiting[:_MANY]
    ]
    if progress.undone:
        lines.append(Text(f"  whilly why {one_line(progress.undone[0].item)}   says what happened", style="dim"))
    if report:
        lines.append(Text(f"  report: {one_line(report)}", style="dim"))
    return lines


def _render_outcome(progress: Progress, done: int) -> list[Text]:
    """Where what came of it can be found."""
    found = {
        "pull request": progress.pull_request,
        "written": ", ".join(progress.written),
        "the work is on branch": progress.target if done else "",
        "take it over": progress.take_over,
    }
    return [
        Text(f"  {name}{'' if name.endswith('branch') else ':'} {one_line(place)}")
        for name, place in found.items()
        if place
    ]
