"""Work trees that no run needs any more, and what is left of others."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from whilly.adapters.git.checkouts import SPARE
from whilly.adapters.git.layout import find_record, read_git_dir
from whilly.adapters.git.names import safe_part
from whilly.adapters.git.removal import list_gone
from whilly.adapters.git.worktree.opening import is_whole
from whilly.adapters.git.worktree.pruning import find_missing
from whilly.cli.doctor.catalogue import found
from whilly.domain.ids import RunId, asked_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from whilly.application.survey import Survey
    from whilly.cli.doctor.finding import Said
    from whilly.cli.doctor.site import Site


def look_at_workspaces(site: Site) -> Iterator[Said]:
    """Those in `.whilly/worktrees` that belong to no open run."""
    if not site.is_settled:
        return
    layout = site.project.layout
    needed = list_workspaces(site.survey)
    for name in sorted(_names_in(layout.state / "worktrees")):
        path = layout.state / "worktrees" / name
        if name in needed:
            continue
        record = find_record(layout.record(RunId(name)))
        if safe_part(name) == name and (record is not None or is_whole(path)):
            what = f"{_shown(path, site)} belongs to no run that is still open"
            yield found("workspace_orphan", what, subject=name)
        elif path.is_dir():
            yield _detached(path, site)


def look_at_checkouts(site: Site) -> Iterator[Said]:
    """Those in `.whilly/checkouts` that no verification needs any more."""
    if not site.is_settled:
        return
    folder = site.project.layout.state / "checkouts"
    needed = list_checkouts(site.survey)
    entries = (each for each in _entries(folder) if not each.name.startswith(SPARE))
    for path in sorted(each for each in entries if each.name not in needed):
        git_dir = read_git_dir(path)
        is_ours = git_dir is not None and git_dir.parent == site.project.layout.shared_dir / "worktrees"
        if is_ours or not os.path.lexists(path / ".git"):
            what = f"{_shown(path, site)} is left of a verification that is over"
            yield found("checkout_orphan", what, subject=path.name)
        else:
            yield _detached(path, site)


def look_at_gone(site: Site) -> Iterator[Said]:
    """What was put away and could not be removed."""
    if site.owner is not None or not site.is_repository:
        return
    for path in list_gone(site.project.layout.gone):
        what = f"{_shown(path, site)} was put away, but is still there"
        remedy = f"whilly doctor --fix; if that cannot: sudo rm -rf {shlex.quote(str(path))}"
        yield found("leftover_stuck", what, subject=path.name, remedy=remedy)


def look_at_missing(site: Site) -> Iterator[Said]:
    """Those that git has on its list and that are gone."""
    if not site.is_settled:
        return
    needed = list_workspaces(site.survey) | list_checkouts(site.survey)
    for missing in find_missing(site.project.layout):
        if missing.place.name not in needed:
            what = f"git lists the work tree {missing.place}, which is gone"
            yield found("worktree_missing", what, subject=str(missing.place))


def list_workspaces(survey: Survey) -> set[str]:
    """Names of the workspaces that runs still need."""
    return {safe_part(name) for run in survey.runs if not run.is_closed for name in (run.id, asked_id(run.id))}


def list_checkouts(survey: Survey) -> set[str]:
    """Names of the checkouts that attempts under way would make again."""
    return {safe_part(f"{run.id}-{run.attempt}") for run in survey.runs if not run.is_ended}


def _names_in(folder: Path) -> set[str]:
    """Names of work trees, also of those of which only the record is left."""
    entries = _entries(folder)
    return {each.name for each in entries if each.is_dir()} | {each.stem for each in entries if each.suffix == ".json"}


def _entries(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _detached(path: Path, site: Site) -> Said:
    shown = _shown(path, site)
    what = f"{shown} is no work tree that git knows"
    return found("workspace_detached", what, subject=shown, remedy=f"look into it, then rm -r '{path}'")


def _shown(path: Path, site: Site) -> str:
    return path.relative_to(site.project.root).as_posix()
