"""`whilly doctor`: what is wrong here, why it matters, and how to mend it."""

from __future__ import annotations

from dataclasses import replace

import click

from whilly.cli.context import current_directory
from whilly.cli.doctor.checks.table import CHECKS
from whilly.cli.doctor.examine import examine
from whilly.cli.doctor.render import render_text, report_as_json
from whilly.cli.doctor.site import open_site
from whilly.cli.doctor.treat import Treatment, treat
from whilly.cli.exit_codes import ExitCode
from whilly.cli.render_error import printable
from whilly.cli.subject import json_option, print_json


@click.command()
@click.option("--fix", is_flag=True, help="Mend what is safe to mend, and say what was done.")
@json_option
def doctor(*, fix: bool, as_json: bool) -> int:
    """Look for what is wrong with this machine, this repository and Whilly's state.

    Each finding says what, why it matters and what mends it. Exits with 1 when one of them is a problem. `--fix` ends
    leftover processes, puts orphan workspaces away and brings stale state up to date; it never deletes a branch, a
    plan file, a log or a commit that nothing holds, and touches nothing while a Whilly is alive.
    """
    directory = current_directory()
    treatment = treat(directory) if fix else Treatment()
    report = examine(open_site(directory), CHECKS)
    if treatment.refusal is not None:
        report = replace(report, findings=(*report.findings, treatment.refusal))
    if as_json:
        print_json(report_as_json(report, treatment, directory))
    else:
        for line in render_text(report, treatment):
            click.echo(printable(line))
    return ExitCode.FAILED if report.problems else ExitCode.DONE
