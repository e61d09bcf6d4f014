"""Entry point of the command line."""

from __future__ import annotations

import click


@click.group()
def main() -> None:
    """Give work items to coding agents; verify, repair and integrate what they do."""
