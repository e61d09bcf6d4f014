"""All checks, in the order of the report."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whilly.cli.doctor.checks import (
    agents,
    branches,
    configuration,
    contained,
    forges,
    ledger,
    machine,
    plans,
    processes,
    repository,
    sandbox,
    stale,
    storage,
    workspaces,
)
from whilly.cli.doctor.finding import Said
from whilly.cli.doctor.site import Site

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT_S = 15.0
SANDBOX_S = 60.0
"""An attack runs some programs; this is for a machine that is badly overloaded."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    Attributes:
        name: what it looks at, for people.
        needs_repository: outside of a repository there is nothing to look at.
        has_mends: it can find what `--fix` mends.
        limit: seconds that it may take.
    """

    name: str
    look: Callable[[Site], Iterable[Said] | Awaitable[Iterable[Said]]]
    needs_repository: bool = True
    has_mends: bool = False
    limit: float = LIMIT_S


CHECKS: Sequence[Check] = (
    Check("versions", machine.look_at_versions, needs_repository=False),
    Check("git", machine.look_at_git, needs_repository=False),
    Check("temporary files", machine.look_at_temporary_files, needs_repository=False),
    Check("repository", repository.look_at_repository, needs_repository=False),
    Check("disk", storage.look_at_disk),
    Check("state directory", storage.look_at_state_directory),
    Check("git ignore", repository.look_at_ignore, has_mends=True),
    Check("configuration", configuration.look_at_settings, needs_repository=False),
    Check("pipelines", configuration.look_at_pipelines),
    Check("secrets", configuration.look_at_secrets, needs_repository=False),
    Check("forges", forges.look_at_forges, needs_repository=False),
    Check("agents", agents.look_at_agents, needs_repository=False),
    Check("sandbox", sandbox.look_at_sandbox, needs_repository=False, limit=SANDBOX_S),
    Check("ledger", ledger.look_at_ledger, has_mends=True),
    Check("plans of the ledger", ledger.look_at_plans, has_mends=True),
    Check("finished work", ledger.look_at_lost_work),
    Check("plan files", plans.look_at_plan_files),
    Check("processes", processes.look_at_processes, has_mends=True),
    Check("workspaces", workspaces.look_at_workspaces, has_mends=True),
    Check("checkouts", workspaces.look_at_checkouts, has_mends=True),
    Check("contained work", contained.look_at_contained, has_mends=True),
    Check("leftovers", workspaces.look_at_gone, has_mends=True),
    Check("git's list of work trees", workspaces.look_at_missing, has_mends=True),
    Check("branches", branches.look_at_branches),
    Check("record of the run", stale.look_at_record, has_mends=True),
    Check("predecessor", stale.look_at_predecessor),
)
