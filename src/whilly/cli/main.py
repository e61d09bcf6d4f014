"""Entry point of the command line."""

from __future__ import annotations

import click


@click.group()
@click.version_option(package_name="whilly", prog_name="whilly")
def main() -> None:
    """Give work items to coding agents; verify, repair and integrate what they do."""
