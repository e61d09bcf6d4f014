"""Plan files in the repository that nobody can or need run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.adapters.planfile import discover, load
from whilly.cli.doctor.catalogue import found
from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from whilly.application.survey import Survey
    from whilly.cli.doctor.finding import Said
    from whilly.cli.doctor.site import Site
    from whilly.domain.plan import Plan

OLD_PATTERNS = ("tasks-*.json", "github-*tasks*.json")
"""Where the predecessor put the plans that it made; `whilly run` takes them by name only."""
_OVER = {ItemStatus.DONE, ItemStatus.SKIPPED}


def look_at_plan_files(site: Site) -> Iterator[Said]:
    """Names, errors, and whether there is anything left to do."""
    root = site.project.root
    older = {path for pattern in OLD_PATTERNS for path in root.glob(pattern) if path.is_file()}
    for path in [*discover(root), *sorted(older)]:
        yield from _judge(path, root, site.survey)


def _judge(path: Path, root: Path, survey: Survey) -> Iterator[Said]:
    name = str(path.relative_to(root))
    if ":" in path.name:
        remedy = f"git mv '{name}' '{name.replace(':', '-')}'"
        yield found("plan_name_invalid", f"the name of {name} holds a `:`", subject=name, remedy=remedy)
    parsed = load(path, root)
    errors = [problem for problem in parsed.problems if problem.is_error]
    if parsed.plan is None:
        more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
        remedy = f"correct it: whilly run --dry-run {name} shows all errors"
        yield found("plan_invalid", f"{errors[0]}{more}", subject=name, remedy=remedy)
    elif _is_over(parsed.plan, survey):
        what = f"everything in {name} is done or skipped"
        yield found("plan_finished", what, subject=name, remedy=f"git rm {name}, or whilly reset {name}")


def _is_over(plan: Plan, survey: Survey) -> bool:
    known = next((each for each in survey.plans if each.id == plan.id), None)
    if known is not None:
        return known.is_over
    return all(plan.statuses.get(item.id) in _OVER for item in plan.items)
