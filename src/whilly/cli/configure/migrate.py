"""`whilly config migrate`: settings out of `.env`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whilly.cli.exit_codes import ExitCode
from whilly.cli.render_error import printable
from whilly.config.edit import render_value
from whilly.config.environment import find_root, process_environment
from whilly.config.migrate import SHARED_NAMES, MigrationPlan, migrate_settings, plan_migration, read_files
from whilly.config.secrets import ReferencedSecrets
from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command()
@click.option("--yes", is_flag=True, help="Do it without asking.")
@click.option("--force", is_flag=True, help="Replace different values that whilly.toml has.")
def migrate(*, yes: bool, force: bool) -> int:
    """Move settings from .env into whilly.toml, and secrets into the keyring; shows first what it would do."""
    root = find_root(Path.cwd()) or Path.cwd()
    dotenv, toml, others = read_files(root)
    plan = plan_migration(dotenv or "", toml, others)
    for line in render_plan(plan):
        click.echo(printable(line))
    if not plan.moves:
        click.echo(f"Nothing to migrate in {root / '.env'}.")
        return ExitCode.DONE
    if plan.conflicts and not force:
        click.echo("whilly: whilly.toml says something else; nothing was changed\n  → --force replaces it", err=True)
        return ExitCode.FAILED
    if not yes and not _is_confirmed():
        click.echo("Nothing was changed.")
        return ExitCode.DONE
    migrate_settings(plan, root, ReferencedSecrets(process_environment()))
    for line in render_outcome(plan):
        click.echo(printable(line))
    return ExitCode.DONE


def render_plan(plan: MigrationPlan) -> Iterator[str]:
    """What a migration would do, for people; secrets are redacted."""
    for move in plan.moves:
        if move.secret is None:
            yield f"{move.name} → whilly.toml: {move.leaf.key} = {render_value(move.value)}"
        else:
            yield f"{move.name} → keyring: {move.slot.removeprefix('keyring:')} = {move.secret}"
            yield f"  and whilly.toml: {move.leaf.key} = {render_value(move.value)}"
        if move.replaces:
            yield f"  replaces {move.replaces}"
        if move.name in SHARED_NAMES:
            yield f"  other programs may read {move.name} from .env too; they will not find it there any more"
    for name, reason in plan.kept.items():
        yield f"{name} stays in .env: {reason}"


def render_outcome(plan: MigrationPlan) -> Iterator[str]:
    """What a migration has left, for people."""
    yield f"Moved {len(plan.moves)} of the settings in .env; everything else in it is as it was."
    if not any(move.secret for move in plan.moves):
        return
    for place in plan.plaintext:
        yield f"A secret can still be read in {place}: remove it there."
    if not plan.plaintext:
        yield "No copy of a secret is left in .env or in the files named like it."
    yield "If .env was ever committed, backed up or sent, replace the secret at its provider."


def _is_confirmed() -> bool:
    if not sys.stdin.isatty():
        message = "There is no terminal to ask for confirmation on, so nothing was changed"
        raise ConfigError(message, remedy="look at the preview above and run it again with --yes")
    return click.confirm("Do this?", default=False)
