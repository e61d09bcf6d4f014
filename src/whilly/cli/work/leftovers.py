"""What a run has left in its directory and could not remove."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.adapters.git.checkouts import remove_spares
from whilly.adapters.git.removal import list_gone, remove_tree
from whilly.adapters.git.translation import translate
from whilly.domain.errors import PortError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from whilly.bootstrap import Project
    from whilly.domain.ids import PlanId, RunId


def remove_leftovers(project: Project, plan: PlanId, left: Mapping[RunId, str]) -> tuple[str, ...]:
    """Remove scratch checkouts and what waits to be removed; what cannot be, with the command for it, in sentences.

    Args:
        project: whose directory is cleaned up.
        plan: that was worked on.
        left: runs whose workspace could not be put away, and why.
    """
    rows = project.reading.items(plan) if left else ()
    items = {row.run.id: row.item.id for row in rows if row.run is not None}
    told = [f"the workspace of {items.get(run, run)} was not put away: {why}" for run, why in left.items()]
    return (*told, *(message for message in clear_scratch(project) if not any(message in why for why in told)))


def clear_scratch(project: Project) -> Iterator[str]:
    """Remove scratch checkouts and what waits to be removed; what cannot be, with the command for it."""
    try:
        remove_spares(project.layout)
        waiting = list_gone(project.layout.gone)
    except (PortError, OSError) as error:
        yield str(translate(error) if isinstance(error, OSError) else error)
        return
    for place in waiting:
        try:
            remove_tree(place)
        except PortError as error:
            yield str(error)
