"""Says what an import did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from whilly.cli.subject import print_json
from whilly.tui.neutral import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whilly.cli.intake.carry_out import Outcome


def tell(outcome: Outcome, *, is_json: bool) -> None:
    """Print it."""
    if is_json:
        print_json(_describe(outcome))
        return
    for line in _lines(outcome):
        click.echo(line)
    for note in outcome.notes:
        click.echo(f"  note: {one_line(note, 500)}")


def _lines(outcome: Outcome) -> Iterator[str]:
    merge = outcome.merge
    counts = {
        "added": len(merge.added),
        "changed": len(merge.changed),
        "skipped": len(merge.skipped),
        "left out": len(merge.left_out),
        "unchanged": len(merge.unchanged),
    }
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "no issue fits"
    ending = "; nothing was written" if not outcome.is_written else ""
    yield one_line(f"{outcome.path.name}: {told}{' (dry run)' if outcome.is_dry else ending}")
    for item in merge.added:
        yield f"  + {one_line(f'{item.id}: {item.title}')}"
    for item_id, fields in merge.changed.items():
        yield f"  ~ {one_line(item_id)}: {', '.join(fields)}"
    for item_id, why in merge.skipped.items():
        yield f"  - {one_line(f'{item_id}: {why}')}"
    for name, why in merge.left_out.items():
        yield f"  ! {one_line(f'{name} was left out: {why}')}"


def _describe(outcome: Outcome) -> dict[str, object]:
    merge = outcome.merge
    return {
        "plan": str(outcome.path),
        "is_written": outcome.is_written,
        "is_dry_run": outcome.is_dry,
        "is_complete": outcome.is_complete,
        "added": [{"id": item.id, "title": item.title} for item in merge.added],
        "changed": [{"id": item_id, "fields": list(fields)} for item_id, fields in merge.changed.items()],
        "skipped": [{"id": item_id, "reason": why} for item_id, why in merge.skipped.items()],
        "left_out": [{"issue": name, "reason": why} for name, why in merge.left_out.items()],
        "unchanged": list(merge.unchanged),
        "notes": list(outcome.notes),
    }
