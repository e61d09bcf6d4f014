"""The commands, by name. A command's module is imported when the command is used, never for `--help`."""

from __future__ import annotations

from typing import NamedTuple


class Lazy(NamedTuple):
    """A command that is imported when it is used.

    Attributes:
        target: `module:attribute` of a `click.Command`.
        help: one line for the list of commands.
    """

    target: str
    help: str


COMMANDS: dict[str, Lazy] = {
    "init": Lazy("whilly.cli.configure.init:init", "Set up Whilly in this repository."),
    "run": Lazy("whilly.cli.work.run:run", "Work through a plan."),
    "config": Lazy("whilly.cli.configure.config:config", "Show, edit and migrate settings."),
}
"""In the order of the list that people see."""
