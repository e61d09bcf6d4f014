"""The git adapters of the contained tier on a real repository and a real sandbox, as the contract suites want them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, final

from whilly.adapters.git.contained.tier import make_contained_tier
from whilly.testing.git_world import GitWorld

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from whilly.domain.ids import CommitId
    from whilly.ports.clock import Clock
    from whilly.ports.sandbox import Sandbox


@final
class ContainedWorld:
    """A `RepositoryWorld` in a temporary directory."""

    def __init__(self, folder: Path, clock: Clock, sandbox: Sandbox) -> None:
        self.inner = GitWorld(folder, clock)
        self.sandbox = sandbox
        self.tier = make_contained_tier(self.inner.git, os.defpath, self.inner.layout, clock, sandbox)
        self.places = self.tier.places
        self.repository = self.tier.repository
        self.workspace = self.tier.workspace
        self.scratch = self.inner.scratch
        self.refs = self.scratch.refs
        self.files_of = self.scratch.files_of
        self.parents_of = self.scratch.parents_of
        self.message_of = self.scratch.message_of
        self.files_in = self.scratch.files_in
        self.is_held = self.scratch.is_held
        self.set_ref = self.scratch.set_ref
        self.write = self.scratch.write

    def make_commit(self, files: Mapping[str, str | bytes | None], *parents: CommitId) -> CommitId:
        """See `RepositoryWorld.make_commit`."""
        return self.scratch.make_commit(files, *parents)
