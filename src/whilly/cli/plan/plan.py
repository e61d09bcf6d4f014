"""`whilly plan`: challenge a plan before it costs anything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from whilly.cli.context import current_directory
from whilly.cli.exit_codes import ExitCode
from whilly.cli.subject import json_option, print_json
from whilly.cli.work.choose_plans import choose_plans
from whilly.config.environment import find_root
from whilly.domain.challenge.describe import describe_challenge, describe_triz
from whilly.domain.challenge.finding import Kind, Verdict
from whilly.domain.challenge.principles import get_principle
from whilly.domain.challenge.review import review_plan
from whilly.tui.neutral import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whilly.domain.challenge.finding import Objection, Review
    from whilly.domain.plan import Plan

_TRIZ = frozenset(
    {
        Kind.PHYSICAL_CONTRADICTION,
        Kind.TECHNICAL_CONTRADICTION,
        Kind.MISSING_DEPENDENCY,
        Kind.FALSE_DEPENDENCY,
        Kind.DUPLICATE,
        Kind.MERGEABLE,
        Kind.REMOVABLE,
    }
)
"""What `whilly plan triz` tells; `whilly plan challenge` tells everything."""
_CONTRADICTIONS = frozenset({Kind.PHYSICAL_CONTRADICTION, Kind.TECHNICAL_CONTRADICTION, Kind.MISSING_DEPENDENCY})
_FILE = click.Path(path_type=Path)


@click.group()
def plan() -> None:
    """Challenge a plan before it costs anything.

    The checks are rules: they start no agent, cost nothing and give the same answer every time.
    """


@plan.command()
@click.argument("plan", required=False, type=_FILE)
@json_option
def triz(plan: Path | None, *, as_json: bool) -> int:
    """Find contradictions in a plan, and the principles of TRIZ that help with them.

    Tells technical and physical contradictions, how ideal the plan is (the share of tasks that give something that can
    be checked), doubles, what can be merged, and what is wrong with the order. Exit code: 1 when there is a
    contradiction or a missing dependency, 0 otherwise, 4 when the file is no valid plan.
    """
    chosen = _choose(plan)
    made = review_plan(chosen)
    if as_json:
        print_json({"plan": chosen.name, **describe_triz(made)})
    else:
        for line in _tell_triz(chosen, made):
            click.echo(line)
    return ExitCode.FAILED if any(each.kind in _CONTRADICTIONS for each in made.objections) else ExitCode.DONE


@plan.command()
@click.argument("plan", required=False, type=_FILE)
@json_option
def challenge(plan: Path | None, *, as_json: bool) -> int:
    """Say everything that speaks against a plan, with a verdict: approve, revise or reject.

    Tells what `whilly plan triz` tells, and tasks that nothing can check, that are too large or over-engineered, that
    take other matters along, and risks that nobody has thought of. Exit code: 0 for approve, 1 for revise and reject,
    4 when the file is no valid plan.
    """
    chosen = _choose(plan)
    made = review_plan(chosen)
    if as_json:
        print_json({"plan": chosen.name, **describe_challenge(made)})
    else:
        for line in _tell(chosen, made):
            click.echo(line)
    return ExitCode.DONE if made.verdict is Verdict.APPROVE else ExitCode.FAILED


def _choose(path: Path | None) -> Plan:
    directory = current_directory()
    return choose_plans(find_root(directory) or directory, (path,) if path else (), is_all=False)[0]


def _tell_triz(chosen: Plan, made: Review) -> Iterator[str]:
    yield one_line(f"{chosen.name}: {len(chosen.items)} tasks, ideality {made.ideality:.2f}")
    told = [each for each in made.objections if each.kind in _TRIZ]
    if not any(each.kind in _CONTRADICTIONS for each in told):
        yield "No contradiction was found."
    for each in told:
        yield from _tell_objection(each)
        for principle in map(get_principle, each.principles):
            yield f"    {principle.number:>2} {principle.name}: {principle.idea}"


def _tell(chosen: Plan, made: Review) -> Iterator[str]:
    yield one_line(f"{chosen.name}: {made.verdict}: {made.reason}", 500)
    for each in made.objections:
        yield from _tell_objection(each)


def _tell_objection(each: Objection) -> Iterator[str]:
    yield one_line(f"  {each.severity}: {each.text}", 500)
    yield one_line(f"    → {each.advice}", 500)
