"""`whilly config`: look at settings and change them."""

from __future__ import annotations

import json
from pathlib import Path

import click

from whilly.cli.configure.migrate import migrate
from whilly.cli.configure.show_settings import read_value, render_settings, settings_as_json
from whilly.cli.context import load_here
from whilly.cli.exit_codes import ExitCode
from whilly.config.edit import render_value, set_values, to_toml, write_atomically
from whilly.config.environment import find_root, user_file
from whilly.config.layers import DOTENV_FILE, REPOSITORY_FILE
from whilly.config.problems import InvalidConfiguration, Problem
from whilly.config.schema import Leaf, find, nearest_key
from whilly.config.sources import parse_value, read_text
from whilly.config.spellings import FLAT, PREFIX
from whilly.domain.errors import ConfigError


@click.group()
def config() -> None:
    """Show, edit and migrate settings.

    Defaults < user file < whilly.toml < .env (deprecated) < WHILLY_* variables < flags: the later one wins.
    """


config.add_command(migrate)


@config.command()
@click.option("--origin", is_flag=True, help="Say where each value comes from.")
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
def show(*, origin: bool, as_json: bool) -> None:
    """Show every setting with its value."""
    root, loaded = load_here()
    files = {"user": user_file(), "repository": root / REPOSITORY_FILE, "dotenv": root / DOTENV_FILE}
    if as_json:
        click.echo(json.dumps(settings_as_json(loaded, files), indent=2, ensure_ascii=False))
        return
    for name, path in files.items():
        click.echo(f"# {name}: {path}{'' if path.exists() else ' (not there)'}")
    for line in render_settings(loaded, with_origin=origin):
        click.echo(line)


@config.command()
def path() -> None:
    """Print the path of your own settings file."""
    click.echo(user_file())


@config.command()
@click.option("--user/--repository", default=True, help="Your own file, or the repository's whilly.toml.")
def edit(*, user: bool) -> int:
    """Open a settings file in your editor, and check it afterwards."""
    place = _file(is_users=user)
    if not place.exists():
        write_atomically(place, "")
    click.edit(filename=str(place))
    load_here()
    return ExitCode.DONE


@config.command()
@click.argument("key")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def get(key: str, *, as_json: bool) -> None:
    """Print the value of one setting, such as `run.parallel`."""
    leaf = require_leaf(key)
    _, loaded = load_here()
    value = read_value(loaded, leaf)
    if as_json:
        click.echo(json.dumps(to_toml(value), ensure_ascii=False))
    else:
        click.echo(value if isinstance(value, str) else "" if value is None else render_value(value))


@config.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("key")
@click.argument("value")
@click.option("--user", is_flag=True, help="In your own file instead of the repository's whilly.toml.")
def set_(key: str, value: str, *, user: bool) -> None:
    """Set one setting in whilly.toml; comments and everything else in the file stay.

    A list is a JSON array, names with commas between them, or one command.
    """
    leaf = require_leaf(key)
    place = _file(is_users=user)
    try:
        parsed = parse_value(leaf, value)
    except ValueError as error:
        raise InvalidConfiguration([Problem(leaf.key, str(error))]) from error
    write_atomically(place, set_values(_require_text(place), [(leaf, parsed)]))
    click.echo(f"{leaf.key} = {render_value(parsed)} in {place}")


def require_leaf(key: str) -> Leaf:
    """The setting of this name, also by the predecessor's spelling.

    Raises:
        ConfigError: there is none.
    """
    own = FLAT.get(key.upper().removeprefix(PREFIX), key)
    leaf = find(tuple(own.split(".")))
    if not isinstance(leaf, Leaf):
        near = nearest_key(key)
        message = f"{key} is a table, not a setting" if leaf is not None else f"There is no setting {key}"
        raise ConfigError(message, remedy=f"did you mean {near}?" if near else "see `whilly config show`")
    return leaf


def _file(*, is_users: bool) -> Path:
    return user_file() if is_users else (find_root(Path.cwd()) or Path.cwd()) / REPOSITORY_FILE


def _require_text(place: Path) -> str:
    problems: list[Problem] = []
    text = read_text(place, str(place), problems)
    if problems:
        raise InvalidConfiguration(problems)
    return text
