"""Files that say what is no longer so: of a dead run, and of the predecessor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.cli.doctor.catalogue import found
from whilly.cli.doctor.finding import Fact, Said
from whilly.cli.run_lock import OWNER_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whilly.cli.doctor.site import Site

PREDECESSOR = (
    ".whilly_state.json",
    ".whilly_workspaces",
    ".whilly_worktrees",
    ".whilly_sessions",
    ".whilly_project_sync_state.json",
    "whilly_logs",
)
"""What it left in the root of a repository."""


def look_at_record(site: Site) -> Iterator[Said]:
    """The record of who is at work."""
    if site.owner is not None:
        yield Fact("at work", f"process {site.owner.pid} on {site.owner.host}, since {site.owner.started_at}")
    elif not site.is_ours and (site.project.state / OWNER_FILE).exists():
        what = f".whilly/{OWNER_FILE} is left of a whilly run that is dead"
        yield found("run_record_stale", what, subject=OWNER_FILE)


def look_at_predecessor(site: Site) -> Iterator[Said]:
    """What it left behind."""
    for name in PREDECESSOR:
        path = site.project.root / name
        if not path.exists():
            continue
        if path.is_dir():
            count = sum(1 for _ in path.iterdir())
            what = f"{name} ({count} entries) is the predecessor's"
            # Its work trees are on git's list.
            remedy = f"look into it, then rm -r {name} && git worktree prune"
        else:
            what, remedy = f"{name} is the predecessor's", f"rm {name}"
        yield found("predecessor_left", what, subject=name, remedy=remedy)
