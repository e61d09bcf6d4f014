"""What the handler of an attempt may use: the ports, and its line to the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from whilly.domain.flow.brief import Profile, SessionLimits
from whilly.domain.machine import Thresholds
from whilly.ports.agent import Agent
from whilly.ports.checkpoint import Checkpoint
from whilly.ports.checks import Checks
from whilly.ports.clock import Clock
from whilly.ports.handoffs import Handoffs
from whilly.ports.machine import Machine
from whilly.ports.policy import Policy
from whilly.ports.repository import Repository
from whilly.ports.sessions import Sessions
from whilly.ports.workspace import Workspace

if TYPE_CHECKING:
    from whilly.domain.flow.brief import Halt
    from whilly.domain.ids import CommitId
    from whilly.domain.session import Activity


@dataclass(frozen=True, slots=True)
class Ports:
    """The outside world, as one repository sees it."""

    repository: Repository
    workspace: Workspace
    sessions: Sessions
    handoffs: Handoffs
    checks: Checks
    agents: Mapping[str, Agent]
    clock: Clock
    machine: Machine
    checkpoint: Checkpoint
    policy: Policy | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """What the configuration says about every attempt."""

    profile: Profile = field(default_factory=Profile)
    limits: SessionLimits = field(default_factory=SessionLimits)
    machine: Thresholds = field(default_factory=Thresholds)


class Line(Protocol):
    """An attempt's line to the engine."""

    def halt(self) -> Halt | None:
        """Why the attempt is to be ended now; None while it may go on."""
        ...

    def report(self, activity: Activity) -> None:
        """Something happened that people like to see."""
        ...

    async def keep_candidate(self, commit: CommitId) -> bool:
        """Remember what is about to become the target's head, so that a crash cannot do it twice.

        Returns:
            False when the ledger does not want this attempt any more: then the target must not move.
        """
        ...


@dataclass(frozen=True, slots=True)
class AttemptContext:
    """The ports, the rules and the line of one attempt."""

    ports: Ports
    rules: Rules
    line: Line
    render: Callable[[str, Mapping[str, object]], str]
