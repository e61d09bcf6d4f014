"""The contained tier put together: workspaces and checkouts as clones, over one mirror, with one sandbox."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from whilly.adapters.git.command import Git
from whilly.adapters.git.contained.bundle import Quarantine
from whilly.adapters.git.contained.export import Export
from whilly.adapters.git.contained.mirror import Mirror
from whilly.adapters.git.contained.places import Places
from whilly.adapters.git.contained.repository import ContainedRepository
from whilly.adapters.git.contained.workspace import ContainedWorkspace
from whilly.adapters.git.identity import Identity
from whilly.adapters.git.repository import GitRepository
from whilly.ports.repository import Repository
from whilly.ports.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.adapters.git.layout import Layout
    from whilly.ports.clock import Clock
    from whilly.ports.sandbox import Sandbox

HARDENED: Mapping[str, str] = {
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "file",
}
"""What keeps git to the repositories of this tier: no filter, no helper and no other place of anybody's runs."""


@dataclass(frozen=True, slots=True)
class ContainedTier:
    """The ports of the contained tier."""

    workspace: Workspace
    repository: Repository
    places: Places


def make_contained_tier(trusted: Git, path: str, layout: Layout, clock: Clock, sandbox: Sandbox) -> ContainedTier:
    """The contained tier of one repository.

    Args:
        trusted: git for the user's repository.
        path: a `PATH` to find git in.
        layout: of the user's repository.
        clock: for the dates of commits.
        sandbox: holds what works in the checkouts.
    """
    git = Git(env={"PATH": path, **HARDENED})
    places = Places(layout.state / "contained")
    mirror = Mirror(git, layout.root, places)
    quarantine = Quarantine(git, places)
    export = Export(trusted, git, layout.root, places, sandbox, quarantine)
    identity = Identity(trusted, layout, clock)
    inner = GitRepository(trusted, layout, clock)
    return ContainedTier(
        workspace=ContainedWorkspace(trusted, layout, identity, mirror, export),
        repository=ContainedRepository(inner, git, places, mirror, identity),
        places=places,
    )
