"""Which plan files a command is about, and whether they can be run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from whilly.adapters.planfile.discover import discover
from whilly.adapters.planfile.parse import load
from whilly.cli.render_error import printable
from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.domain.plan import Plan


def choose_plans(root: Path, named: tuple[Path, ...], *, is_all: bool) -> list[Plan]:
    """The plans to work on: those named, or the one that is there, or all that are there.

    Warnings are printed; everything that is wrong in any of the files is reported at once.

    Raises:
        ConfigError: there is none, it is not clear which, or there are errors in them.
    """
    paths = [path.absolute() for path in named] or list(discover(root))
    if not paths:
        message = "there is no plan: neither tasks.json nor .planning/*tasks*.json"
        raise ConfigError(message, remedy="whilly init --sample writes an example, or name a file: whilly run PLAN")
    if not named and len(paths) > 1 and not is_all:
        found = ", ".join(str(path.relative_to(root)) for path in paths)
        message = f"there are several plans: {found}"
        raise ConfigError(message, remedy="name one, or say --all")
    parsed = [load(path, root) for path in paths]
    problems = [problem for one in parsed for problem in one.problems]
    for problem in problems:
        click.echo(printable(str(problem)), err=True)
    errors = sum(problem.is_error for problem in problems)
    if errors:
        message = f"{errors} {'error' if errors == 1 else 'errors'} in what was to be run; nothing was started"
        raise ConfigError(message)
    return [one.plan for one in parsed if one.plan is not None]
