"""`whilly import PLACE`: issues of a tracker become tasks of a plan file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from whilly.cli.context import current_directory
from whilly.cli.exit_codes import ExitCode
from whilly.cli.invocation import find_checkpoint
from whilly.cli.render_error import printable
from whilly.cli.subject import json_option
from whilly.cli.tell_wait import tell_wait

if TYPE_CHECKING:
    from whilly.bootstrap import Project

LIMIT = 200


class Flags(TypedDict):
    """The options of `whilly import`."""

    label: tuple[str, ...]
    query: str
    jql: str
    project: tuple[str, ...]
    plan: Path | None
    limit: int
    dry_run: bool
    as_json: bool


@click.command("import")
@click.argument("place")
@click.argument("scopes", nargs=-1, metavar="[SCOPE]...")
@click.option(
    "--label", multiple=True, metavar="LABEL", help="Issues with this label; several times: with all of them."
)
@click.option("--query", default="", metavar="TEXT", help="Issues with these words in their title or text.")
@click.option("--jql", default="", metavar="JQL", help="Issues that Jira finds with this query.")
@click.option("--project", multiple=True, metavar="PROJECT", help="The same as a SCOPE.")
@click.option("--plan", type=click.Path(path_type=Path), metavar="FILE", help="The plan file; tasks.json if not given.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=LIMIT,
    show_default=True,
    metavar="N",
    help="Issues of one SCOPE at most; an import that finds more skips nothing.",
)
@click.option("--dry-run", is_flag=True, help="Say what would change, and write nothing.")
@json_option
def import_issues(place: str, scopes: tuple[str, ...], **flags: Unpack[Flags]) -> int:
    """Make tasks of the open issues of PLACE, or bring the tasks that were made of them up to date.

    PLACE is github, gitea, forgejo, gitlab, jira or plane, or the name of one in your settings. A SCOPE is a repository
    (owner/name), a project (ABC), or a single issue (owner/name#12, ABC-12, its address); without any it is the
    repository that the clone came from.

    A task follows its issue; its status and what else people wrote into the plan file stay. Pending tasks of closed
    issues are skipped. Tasks of people without write access ask for an agent that is contained.

    An issue with neither a title nor a text is left out; then the exit code is 1.
    """
    from whilly.bootstrap import open_project  # noqa: PLC0415  (settings cost time that `--help` need not take)

    project = open_project(current_directory(), checkpoint=find_checkpoint())
    for warning in project.loaded.warnings:
        click.echo(printable(f"whilly: warning: {warning}"), err=True)
    return _import(project, place, scopes, flags)


def _import(project: Project, word: str, scopes: tuple[str, ...], flags: Flags) -> ExitCode:
    from whilly.cli.intake.carry_out import carry_out  # noqa: PLC0415  (asyncio and HTTP cost time)
    from whilly.cli.intake.plan_file import open_plan  # noqa: PLC0415  (as above)
    from whilly.cli.intake.tell import tell  # noqa: PLC0415  (as above)
    from whilly.cli.intake.wanted import Filters, read_wanted  # noqa: PLC0415  (as above)

    project.places.listen(tell_wait)
    # What is wrong here is told before anything is asked there.
    filters = Filters(flags["label"], flags["query"], flags["jql"], flags["limit"])
    wanted = read_wanted(project, word, (*scopes, *flags["project"]), filters)
    file = open_plan(project, flags["plan"])
    outcome = carry_out(project, wanted, file, is_dry=flags["dry_run"])
    tell(outcome, is_json=flags["as_json"])
    return ExitCode.FAILED if outcome.merge.left_out else ExitCode.DONE
