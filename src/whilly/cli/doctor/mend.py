"""What `--fix` does. Each step may be repeated; nothing that only people can judge is touched."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from whilly.cli.doctor.checks.processes import list_current
from whilly.cli.run_lock import OWNER_FILE
from whilly.domain.ids import PlanId, RunId

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from whilly.cli.doctor.finding import Finding
    from whilly.cli.doctor.site import Site

    Mend: TypeAlias = Callable[[Site, Finding], Coroutine[Any, Any, str]]


async def write_ignore(site: Site, _finding: Finding) -> str:
    """Make git ignore Whilly's directory; what is in the file already stays, and the last line wins."""
    path = site.project.state / ".gitignore"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(text + ("\n" if text and not text.endswith("\n") else "") + "*\n", encoding="utf-8")
    return f"git ignores {site.project.state.name}: {path.name} says so"


async def update_ledger(site: Site, _finding: Finding) -> str:
    """Give the ledger the schema of this version."""
    # A project makes its database, up to date, when it is first asked for.
    site.project.database.dispose()
    return "the ledger is up to date"


async def end_processes(site: Site, _finding: Finding) -> str:
    """End the processes of all attempts that are not current; the first time ends them all."""
    ended = await site.project.sessions.sweep(list_current(site.survey))
    return f"ended {', '.join(ended)}" if ended else ""


async def rest_plan(site: Site, finding: Finding) -> str:
    """Write down that nobody works on any plan; the first time does it for all."""
    nobody = PlanId("")
    site.project.recorder.rest_others(nobody)
    site.project.database.dispose()
    return f"plan {finding.subject} is at rest"


async def close_workspace(site: Site, finding: Finding) -> str:
    """Save what is in a workspace, and remove it."""
    from whilly.adapters.git.workspace import GitWorkspace  # noqa: PLC0415  (asyncio costs time)

    # Whatever tier agents work in now: this one was made in the open one.
    workspace = GitWorkspace(site.project.git, site.project.layout, site.project.clock)
    await workspace.close(RunId(finding.subject), keep_branch=True)
    return f"removed the workspace {finding.subject}; refs hold all that was in it, and its branch stays"


async def remove_checkout(site: Site, finding: Finding) -> str:
    """Remove a scratch checkout."""
    from whilly.adapters.git.worktree.pruning import put_away_checkout  # noqa: PLC0415  (asyncio costs time)

    layout = site.project.layout
    await put_away_checkout(site.project.git, layout, layout.state / "checkouts" / finding.subject)
    return f"removed the checkout {finding.subject}"


async def close_contained(site: Site, finding: Finding) -> str:
    """Save what is in a contained checkout, and remove it."""
    await site.project.contained_tier.workspace.close(RunId(finding.subject), keep_branch=True)
    aside = site.project.contained_tier.places.root / "refused" / finding.subject
    kept = f"what git may not be given is in {aside}" if aside.exists() else "refs hold all that was in it"
    return f"removed the contained checkout {finding.subject}; {kept}, and its branch stays"


async def remove_scratch(site: Site, finding: Finding) -> str:
    """Remove what checks and quarantine have left."""
    from whilly.adapters.git.removal import discard  # noqa: PLC0415  (asyncio costs time)

    places = site.project.contained_tier.places
    folder, _, name = finding.subject.partition("/")
    discard(places.root / folder / name, places.gone)
    return f"removed {finding.subject}"


async def remove_leftover(site: Site, finding: Finding) -> str:
    """Remove what was put away."""
    from whilly.adapters.git.removal import remove_tree  # noqa: PLC0415  (as above)

    remove_tree(site.project.layout.gone / finding.subject)
    return f"removed {finding.subject}"


async def forget_worktree(site: Site, finding: Finding) -> str:
    """Take a work tree that is gone off git's list."""
    from whilly.adapters.git.worktree.pruning import find_missing, forget_missing  # noqa: PLC0415  (as above)

    for missing in find_missing(site.project.layout):
        if missing.place == Path(finding.subject):
            await forget_missing(site.project.git, site.project.layout, missing)
    return f"git no longer lists {finding.subject}"


async def remove_record(site: Site, _finding: Finding) -> str:
    """Remove the record of a run that is dead; by now this process has put its own in its place."""
    (site.project.state / OWNER_FILE).unlink(missing_ok=True)
    return f"removed {OWNER_FILE}"


MENDS: Mapping[str, Mend] = MappingProxyType(
    {
        "state_not_ignored": write_ignore,
        "ledger_outdated": update_ledger,
        "processes_left": end_processes,
        "plan_active": rest_plan,
        "workspace_orphan": close_workspace,
        "checkout_orphan": remove_checkout,
        "contained_orphan": close_contained,
        "contained_scratch": remove_scratch,
        "leftover_stuck": remove_leftover,
        "worktree_missing": forget_worktree,
        "run_record_stale": remove_record,
    }
)
"""Code → what mends it, in the order in which it is done: nothing is put away that a process still writes to."""
