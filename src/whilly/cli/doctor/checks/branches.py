"""Branches under Whilly's prefix of which the ledger knows nothing."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from whilly.adapters.git.layout import find_record
from whilly.adapters.git.names import safe_branch
from whilly.cli.doctor.catalogue import found
from whilly.domain.errors import PortError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whilly.cli.doctor.finding import Said
    from whilly.cli.doctor.site import Site

_SHOWN = 5
FORGED = "whilly/"
"""What the branches of issues begin with, whatever the settings say."""
_NUMBERED = re.compile(r"-\d+$")
"""The end of a name that was taken already."""


async def look_at_branches(site: Site) -> Iterable[Said]:
    """Branches that no run has made and that no plan is integrated into, and those in whose way others are."""
    if not site.is_settled:
        return []
    project = site.project
    prefix = project.settings.repository.branch_prefix
    known = _known_branches(site)
    try:
        listed = await project.git.run(project.root, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/")
    except PortError:
        # Git does not work here at all, which another check says.
        return []
    names = listed.text.splitlines()
    blocked = [_tell_blocked(name) for name in names if any(each.startswith(f"{name}/") for each in (prefix, FORGED))]
    own = [name for name in names if name.startswith(prefix)]
    unknown = [name for name in own if name not in known and _NUMBERED.sub("", name) not in known]
    return [*blocked, *([_tell_unknown(prefix, unknown)] if unknown else [])]


def _tell_blocked(name: str) -> Said:
    what = f"there is a branch {name}, so that git cannot make any {name}/…: it takes / for a folder"
    return found("branch_in_the_way", what, subject=name, remedy=f"git branch -m {shlex.quote(name)} NAME")


def _tell_unknown(prefix: str, unknown: list[str]) -> Said:
    shown = ", ".join(unknown[:_SHOWN]) + (", …" if len(unknown) > _SHOWN else "")
    count = "one branch" if len(unknown) == 1 else f"{len(unknown)} branches"
    what = f"the ledger knows nothing of {count} under {prefix}: {shown}"
    remedy = "git branch -d NAME deletes what is merged; look into the others first"
    return found("branch_unknown", what, subject=unknown[0], remedy=remedy)


def _known_branches(site: Site) -> set[str]:
    prefix = site.project.settings.repository.branch_prefix
    layout = site.project.layout
    made = {safe_branch(f"{prefix}{run.item}") for run in site.survey.runs}
    records = (find_record(layout.record(run.id)) for run in site.survey.runs if not run.is_closed)
    recorded = {record.branch for record in records if record is not None}
    return made | recorded | {plan.target for plan in site.survey.plans}
