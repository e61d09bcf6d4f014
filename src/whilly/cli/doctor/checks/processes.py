"""Processes of attempts, when no Whilly is alive to look after them."""

from __future__ import annotations

import os
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from whilly.cli.doctor.catalogue import found
from whilly.domain.ids import AttemptId, attempt_id
from whilly.transport.process.census import find_carriers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whilly.application.survey import Survey
    from whilly.cli.doctor.finding import Said
    from whilly.cli.doctor.site import Site

_SHOWN = 5


def look_at_processes(site: Site) -> Iterator[Said]:
    """Which attempts have processes, and whether the next `whilly run` goes on with them."""
    if not site.is_settled:
        return
    current = list_current(site.survey)
    carriers = sorted(find_carriers(os.path.realpath(site.project.state), lambda _: True), key=attrgetter("attempt"))
    for attempt, group in groupby(carriers, key=attrgetter("attempt")):
        names = [f"{carrier.name} ({carrier.pid})" for carrier in group]
        shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
        if attempt in current:
            what = f"attempt {attempt} goes on without Whilly: {shown}"
            yield found("processes_waiting", what, subject=attempt, remedy="whilly run, or whilly cancel TASK")
        else:
            what = f"attempt {attempt} is over, and some of its processes still run: {shown}"
            yield found("processes_left", what, subject=attempt)


def list_current(survey: Survey) -> set[AttemptId]:
    """The attempts that a `whilly run` would adopt."""
    return {attempt_id(run.id, run.attempt) for run in survey.runs if not run.is_ended}
