"""Says whose rate limit is waited for: silence would look like a hang."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from whilly.cli.render_error import printable
from whilly.tui.neutral import json_text

if TYPE_CHECKING:
    from datetime import datetime


def tell_wait(who: str, until: datetime) -> None:
    """One line for people, beside whatever a command prints."""
    at = until.astimezone().strftime("%H:%M:%S")
    click.echo(printable(f"whilly: {who} limits how often it may be asked; waiting until {at}"), err=True)


def emit_wait(who: str, until: datetime) -> None:
    """The same, and as an event where a run writes JSON lines: with `--headless`, or to no terminal."""
    tell_wait(who, until)
    click.echo(json_text({"event": "rate_limited", "who": who, "until": until.isoformat()}))
