"""Rig: one agent CLI on a scripted model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from whilly.testing.models.canned import Answer
    from whilly.testing.models.script import Turn


class Rig(Protocol):
    """How one agent CLI is pointed at a scripted model, and what that model calls to get something done."""

    name: str
    """The kind of agent, which is also the name of its usual program."""
    model: str
    """A model that it knows."""

    def settle(self, home: Path, url: str) -> Mapping[str, str]:
        """Write its configuration into `home`, a user's home; the variables that it needs beside HOME and PATH."""
        ...

    def confine(self, url: str, key: str) -> Mapping[str, str]:
        """The variables by which Whilly's gateway finds the model and has its key, when the agent is contained."""
        ...

    def subscribe(self, variables: Mapping[str, str]) -> Mapping[str, str]:
        """The same variables for somebody who pays by subscription, which has usage limits."""
        ...

    def limit_usage(self, resets_at: datetime) -> Answer:
        """What its provider answers when a usage limit is reached."""
        ...

    def stall(self) -> Answer:
        """The beginning of its provider's answer, after which nothing more comes."""
        ...

    def write(self, path: str, content: str) -> Turn:
        """The model writes a new file in the workspace."""
        ...

    def shell(self, command: str) -> Turn:
        """The model runs a shell command in the workspace."""
        ...
