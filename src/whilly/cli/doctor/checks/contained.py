"""What dead runs have left in the contained tier's directories."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from whilly.adapters.git.names import safe_part
from whilly.cli.doctor.catalogue import found
from whilly.cli.doctor.checks.workspaces import list_checkouts, list_workspaces

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from whilly.cli.doctor.finding import Said
    from whilly.cli.doctor.site import Site


def look_at_contained(site: Site) -> Iterator[Said]:
    """Those in `.whilly/contained` that belong to no open run."""
    if not site.is_settled:
        return
    root = site.project.state / "contained"
    needed = list_workspaces(site.survey)
    for name in sorted(_list_runs(root) - needed):
        place = root / "runs" / name
        if safe_part(name) == name and place.with_name(f"{name}.json").is_file():
            yield found("contained_orphan", f"{_shown(place, site)} belongs to no run that is still open", subject=name)
        else:
            yield _unknown(place, site, "nothing says what it is")
    for name in sorted(_list(root / "checkouts") - list_checkouts(site.survey)):
        place = root / "checkouts" / name
        yield found("contained_scratch", f"{_shown(place, site)} is left of a check that is over", subject=_key(place))
    for name in sorted(_list(root / "quarantine")):
        place = root / "quarantine" / name
        what = f"{_shown(place, site)} is left of a look at what an agent had done"
        yield found("contained_scratch", what, subject=_key(place))
    for name in sorted(_list(root / "refused")):
        yield _unknown(root / "refused" / name, site, "its run is over, and git was not given what it holds")


def _unknown(place: Path, site: Site, why: str) -> Said:
    remedy = f"look into it without git, then rm -r {shlex.quote(str(place))}"
    return found("contained_refused", f"{_shown(place, site)}: {why}", subject=place.name, remedy=remedy)


def _list_runs(root: Path) -> set[str]:
    """Names of checkouts, also of those of which only the record is left."""
    return {name.removesuffix(".json") for name in _list(root / "runs") if not name.endswith(".tmp")}


def _list(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()} if folder.is_dir() else set()


def _key(place: Path) -> str:
    return f"{place.parent.name}/{place.name}"


def _shown(path: Path, site: Site) -> str:
    return path.relative_to(site.project.root).as_posix()
