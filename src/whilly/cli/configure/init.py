"""`whilly init`: set up Whilly in a repository."""

from __future__ import annotations

import asyncio
import difflib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whilly.adapters.git.command import Git
from whilly.adapters.git.inspection import detect_base, find_layout, require_git
from whilly.application.detect_profile import READ, Profile, Root, detect_profile
from whilly.cli.exit_codes import ExitCode
from whilly.cli.render_error import printable
from whilly.config.edit import find_changes, set_values, write_atomically
from whilly.config.environment import process_environment
from whilly.config.layers import REPOSITORY_FILE
from whilly.config.problems import InvalidConfiguration, Problem
from whilly.config.sources import read_text
from whilly.config.starter import detected_values, render_starter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whilly.adapters.git.layout import Layout

_LARGEST_FILE = 1_000_000
_IGNORE_ALL = "*\n"


@click.command()
@click.option("--force", is_flag=True, help="Change an existing whilly.toml to what is detected now.")
@click.option("--sample/--no-sample", default=None, help="Write an example plan, tasks.json; asks by default.")
def init(*, force: bool, sample: bool | None) -> int:
    """Set up Whilly in this repository.

    Writes whilly.toml with the base branch and the commands that set the repository up and check it, and lets
    .whilly/ ignore itself. Nothing else is touched; what is there is never overwritten without --force.
    """
    layout, base, root = asyncio.run(_inspect(Path.cwd()))
    profile = detect_profile(root)
    for line in _render_profile(base, profile):
        click.echo(printable(line))
    is_written = _write_settings(layout.root / REPOSITORY_FILE, base, profile, is_forced=force)
    _ignore_state(layout.state)
    if sample or (sample is None and sys.stdin.isatty() and click.confirm("Write an example plan, tasks.json?")):
        _write_sample(layout.root / "tasks.json")
    return ExitCode.DONE if is_written else ExitCode.FAILED


async def _inspect(folder: Path) -> tuple[Layout, str, Root]:
    git = Git(env=process_environment())
    await require_git(git, folder)
    layout = await find_layout(git, folder)
    base = await detect_base(git, layout.root)
    # What is committed, because a task starts from a clean checkout.
    listed = await git.run(layout.root, "ls-tree", "-z", "--name-only", "HEAD")
    names = frozenset(listed.fields)
    texts = {name: text for name in READ if name in names and (text := _read(layout.root / name)) is not None}
    return layout, base, Root(names, texts)


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return file.read(_LARGEST_FILE).decode(errors="replace")
    except OSError:
        return None


def _render_profile(base: str, profile: Profile) -> Iterator[str]:
    yield f"base branch: {base}"
    yield f"profile: {profile.name or 'nothing recognised; write your own commands under [profile]'}"
    for title, commands in (("set up", profile.setup), ("verify", profile.verify)):
        yield from (f"  {title}: {command.run}" for command in commands)
    yield from (f"  note: {note}" for note in profile.notes)


def _write_settings(path: Path, base: str, profile: Profile, *, is_forced: bool) -> bool:
    """Whether the file says what was detected."""
    problems: list[Problem] = []
    before = read_text(path, REPOSITORY_FILE, problems)
    if problems:
        raise InvalidConfiguration(problems)
    is_new = not path.exists()
    wanted = detected_values(base, profile)
    after = render_starter(base, profile) if is_new else set_values(before, find_changes(before, wanted))
    if is_new or (is_forced and before != after):
        write_atomically(path, after)
        click.echo(f"{'wrote' if is_new else 'changed'} {path}")
    if not is_new and before == after:
        click.echo(f"{path} says so already")
    if is_new or before == after:
        return True
    for line in difflib.unified_diff(before.splitlines(), after.splitlines(), "whilly.toml", "detected", lineterm=""):
        click.echo(printable(line))
    if not is_forced:
        click.echo(f"whilly: {path} is there and was left as it is\n  → --force makes the change above", err=True)
    return is_forced


def _ignore_state(state: Path) -> None:
    ignore = state / ".gitignore"
    if not ignore.exists():
        write_atomically(ignore, _IGNORE_ALL)
        click.echo(f"wrote {ignore}")


def _write_sample(path: Path) -> None:
    if path.exists():
        click.echo(f"{path} is there and was left as it is")
        return
    from whilly.adapters.planfile.sample import sample_plan  # noqa: PLC0415  (slow, and seldom wanted)

    write_atomically(path, sample_plan().decode())
    click.echo(f"wrote {path}; start it with: whilly run {path.name}")
