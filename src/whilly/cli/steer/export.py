"""`whilly export PLAN`: the plan file with the statuses that the ledger holds."""

from __future__ import annotations

from pathlib import Path

import click

from whilly.adapters.planfile.export import export as put_statuses
from whilly.adapters.planfile.write import write_atomically
from whilly.cli.exit_codes import ExitCode
from whilly.cli.render_error import printable
from whilly.cli.subject import choose_plan, open_ledger, print_json
from whilly.domain.errors import ConfigError
from whilly.domain.flow.plan_run import SOLO


@click.command()
@click.argument("plan", required=False)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write it to FILE.")
@click.option("--in-place", is_flag=True, help="Replace the plan file itself.")
@click.option("--json", "as_json", is_flag=True, help="Print the statuses alone, as one JSON object.")
def export(plan: str | None, output: Path | None, *, in_place: bool, as_json: bool) -> int:
    """Print PLAN's file with the statuses of the ledger; every other byte of it stays as it is."""
    if output is not None and in_place:
        message = "--output and --in-place exclude each other"
        raise ConfigError(message, remedy="say where to write: one of the two")
    project = open_ledger()
    chosen = choose_plan(project, plan)
    if chosen.state.pipeline != SOLO:
        message = f"{chosen.name} did not come from a plan file"
        raise ConfigError(message, remedy=f"whilly report --plan {chosen.id}")
    source = Path(chosen.source)
    try:
        original = source.read_bytes()
    except OSError as error:
        message = f"the plan file {source} cannot be read: {error.strerror}"
        raise ConfigError(message, remedy="restore the file, or name another plan") from error
    statuses = {row.item.id: row.status for row in project.reading.items(chosen.id)}
    exported = put_statuses(original, statuses)
    target = source if in_place else output
    if target is not None:
        write_atomically(target, exported)
    if as_json:
        print_json({"plan": chosen.id, "output": str(target) if target else None, "statuses": statuses})
    elif target is None:
        click.echo(exported, nl=False)
    else:
        click.echo(printable(f"{len(statuses)} statuses are in {target}"))
    return ExitCode.DONE
