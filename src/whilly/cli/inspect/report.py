"""`whilly report`: what a plan has come to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from whilly.application.telling.render_report import render_markdown, report_as_json
from whilly.application.telling.report import make_report
from whilly.cli.subject import choose_plan, open_ledger, plan_option
from whilly.domain.errors import ConfigError
from whilly.tui.neutral import json_text

if TYPE_CHECKING:
    from whilly.application.telling.report import Report
    from whilly.application.telling.rows import PlanRow
    from whilly.bootstrap import Project


@click.command()
@plan_option
@click.option("--format", "form", type=click.Choice(["md", "json"]), default="md", help="Markdown, or JSON.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write it to FILE.")
def report(wanted: str | None, form: str, *, as_json: bool, output: Path | None) -> None:
    """Report a plan: each task's outcome, attempts, time, tokens and cost, and what it changed beyond its files."""
    project = open_ledger()
    made = read_report(project, choose_plan(project, wanted))
    text = _to_json(made) if as_json or form == "json" else render_markdown(made)
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        message = f"{output} cannot be written: {error.strerror}"
        raise ConfigError(message, remedy="name another file with --output") from error
    click.echo(f"The report of {made.plan.name} is in {output}")


def read_report(project: Project, plan: PlanRow) -> Report:
    """What the plan has come to by now."""
    reading = project.reading
    return make_report(plan, reading.items(plan.id), reading.attempts(plan.id), project.clock.now())


def save_report(project: Project, plan: PlanRow) -> str:
    """Write the report of a run beside the ledger, for people and for programs; the path of the one for people.

    Empty when it cannot be written: a full disk must not turn a finished run into a failed one.
    """
    made = read_report(project, plan)
    folder = project.state / "reports"
    begun = plan.begun_at.strftime("%Y%m%d_%H%M%S") if plan.begun_at else "never"
    path = folder / f"{Path(plan.source).stem}_{begun}.md"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(render_markdown(made), encoding="utf-8", errors="backslashreplace")
        path.with_suffix(".json").write_text(_to_json(made), encoding="utf-8", errors="backslashreplace")
    except OSError:
        return ""
    return str(path)


def _to_json(made: Report) -> str:
    return json_text(report_as_json(made), indent=2) + "\n"
