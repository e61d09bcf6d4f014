"""What commands need to know about where they run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from whilly.cli.render_error import printable
from whilly.config.environment import find_root
from whilly.config.layers import load_settings
from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.config.layers import Loaded


def current_directory() -> Path:
    """Where the command was given.

    Raises:
        ConfigError: the directory was removed meanwhile.
    """
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        message = "the current directory does not exist any more"
        raise ConfigError(message, remedy="cd to your repository") from error


def load_here(flags: Mapping[str, object] | None = None) -> tuple[Path, Loaded]:
    """The root of the repository around the current directory, and its configuration; warnings are printed.

    Outside of a repository the root is the current directory.

    Args:
        flags: what the command line says, by key (`run.parallel`); None is a flag that was not given.

    Raises:
        InvalidConfiguration: with everything that is wrong.
    """
    directory = current_directory()
    root = find_root(directory) or directory
    loaded = load_settings(root, flags)
    for warning in loaded.warnings:
        click.echo(printable(f"whilly: warning: {warning}"), err=True)
    return root, loaded
