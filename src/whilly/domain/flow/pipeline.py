"""A pipeline: the ordered stages that a run passes, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from whilly.domain.attempt import Outcome

END = ""
"""As the next stage: the run is done."""

ROUTABLE = frozenset(
    {
        Outcome.REJECTED,
        Outcome.CONFLICT,
        Outcome.ASKED,
        Outcome.NO_PROGRESS,
        Outcome.CRASHED,
        Outcome.STALLED,
        Outcome.TIMED_OUT,
        Outcome.OVER_BUDGET,
    }
)
"""Outcomes that may have a route; the others say nothing about the work, so the stage itself is gone on with."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where a run goes when a stage did not complete.

    Attributes:
        limit: how often one run may be sent to `to`, by whatever route; after that it fails.
    """

    to: str
    limit: int


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: an agent in a role, or a built-in action; exactly one of the two.

    Attributes:
        next: the stage after this one has completed; `END` ends the run as done.
        prompt: name of the prompt template of an agent stage.
        resumes: whether an agent stage goes on with the run's conversation, where the agent can.
        routes: by outcome; an outcome without a route is retried within `attempts` or fails, as `lifecycle` says.
        integrates: whether the target has the run's change when this stage has completed.
        attempts: tries that may fail (no progress, crashed, stalled, timed out) before the run fails.
    """

    name: str
    next: str
    role: str = ""
    action: str = ""
    prompt: str = ""
    resumes: bool = False
    integrates: bool = False
    routes: Mapping[Outcome, Route] = field(default_factory=dict)
    attempts: int = 3

    @property
    def is_agent(self) -> bool:
        """Whether an agent works here, which costs money."""
        return bool(self.role)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Stages by name, and the one to begin with."""

    name: str
    first: str
    stages: Mapping[str, Stage]

    def problems(self) -> list[str]:
        """Everything that would make a run get lost: unknown targets, unreachable stages, unlimited routes."""
        return [*self._bad_stages(), *self._bad_targets(), *self._unreachable()]

    def _bad_stages(self) -> list[str]:
        found = [
            f"stage {s.name!r}: give it either a role or an action, not {'both' if s.role else 'neither'}"
            for s in self.stages.values()
            if bool(s.role) == bool(s.action)
        ]
        found += [
            f"stage {s.name!r}: the route on {outcome} needs a limit of at least 1"
            for s in self.stages.values()
            for outcome, route in s.routes.items()
            if route.limit < 1
        ]
        found += [
            f"stage {s.name!r}: {outcome} cannot have a route; it says nothing about the work"
            for s in self.stages.values()
            for outcome in s.routes.keys() - ROUTABLE
        ]
        return found + [
            f"stage {s.name!r}: attempts must be at least 1" for s in self.stages.values() if s.attempts < 1
        ]

    def _bad_targets(self) -> list[str]:
        found = [] if self.first in self.stages else [f"first stage {self.first!r} does not exist"]
        for stage in self.stages.values():
            targets = [("next", stage.next)] if stage.next != END else []
            targets += [(f"on {outcome}", route.to) for outcome, route in stage.routes.items()]
            found += [
                f"stage {stage.name!r}: {why} leads to unknown {to!r}" for why, to in targets if to not in self.stages
            ]
        return found + self._endless()

    def _endless(self) -> list[str]:
        """Cycles of `next` alone have no limit and would never end."""
        for start in self.stages:
            seen, at = {start}, self.stages[start].next
            while at in self.stages and at not in seen:
                seen.add(at)
                at = self.stages[at].next
            if at == start:
                return [f"stage {start!r}: `next` leads back to it without a limit; use a route with a limit"]
        return []

    def _unreachable(self) -> list[str]:
        reached: set[str] = set()
        frontier = [self.first]
        while frontier:
            name = frontier.pop()
            if name in reached or name not in self.stages:
                continue
            reached.add(name)
            stage = self.stages[name]
            frontier += [stage.next, *(r.to for r in stage.routes.values())]
        return [f"stage {name!r} can never be reached" for name in self.stages if name not in reached]
