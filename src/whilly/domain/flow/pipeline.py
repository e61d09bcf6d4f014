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
        limit: how often one run may be sent to `to`, by whatever route.
        then: where it goes on after that, or when the same failure comes twice; `END` lets it fail.
    """

    to: str
    limit: int
    then: str = END


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: an agent in a role, or a built-in action; exactly one of the two.

    Attributes:
        next: the stage after this one has completed; `END` ends the run as done.
        branches: stages that may come instead of `next`, by the name that a result has for them.
        prompt: name of the prompt template of an agent stage.
        answer: what an agent stage is asked for instead of a change; empty is a change.
        resumes: whether an agent stage goes on with the run's conversation, where the agent can.
        routes: by outcome; an outcome without a route is retried within `attempts` or fails, as `lifecycle` says.
        integrates: whether the target has the run's change when this stage has completed.
        renews: whether it begins from what the target is now, and what comes later is a change of that.
        attempts: tries that may fail (no progress, crashed, stalled, timed out) before the run fails.
    """

    name: str
    next: str
    role: str = ""
    action: str = ""
    branches: Mapping[str, str] = field(default_factory=dict)
    prompt: str = ""
    answer: str = ""
    resumes: bool = False
    integrates: bool = False
    renews: bool = False
    routes: Mapping[Outcome, Route] = field(default_factory=dict)
    attempts: int = 3

    @property
    def is_agent(self) -> bool:
        """Whether an agent works here, which costs money."""
        return bool(self.role)

    @property
    def onward(self) -> tuple[tuple[str, str], ...]:
        """Where it leads without a limit, each with how: `next`, branches, and what follows when a limit is reached."""
        after = [(f"after the limit on {outcome}", route.then) for outcome, route in self.routes.items()]
        ways = [("next", self.next), *((f"branch {name}", to) for name, to in self.branches.items()), *after]
        return tuple((how, to) for how, to in ways if to != END)


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
            targets = [*stage.onward, *((f"on {outcome}", route.to) for outcome, route in stage.routes.items())]
            found += [
                f"stage {stage.name!r}: {why} leads to unknown {to!r}" for why, to in targets if to not in self.stages
            ]
        return found + self._endless()

    def _endless(self) -> list[str]:
        """What leads onward has no limit, so a cycle of it would never end."""
        for start in self.stages:
            if start in self._reach([to for _, to in self.stages[start].onward], is_limited=False):
                return [f"stage {start!r}: it leads back to itself without a limit; use a route with a limit"]
        return []

    def _unreachable(self) -> list[str]:
        reached = self._reach([self.first], is_limited=True)
        return [f"stage {name!r} can never be reached" for name in self.stages if name not in reached]

    def _reach(self, names: list[str], *, is_limited: bool) -> set[str]:
        """The stages that can follow from some, themselves included; over routes with a limit as well, or not."""
        reached: set[str] = set()
        frontier = list(names)
        while frontier:
            name = frontier.pop()
            if name in reached or name not in self.stages:
                continue
            reached.add(name)
            stage = self.stages[name]
            frontier += [to for _, to in stage.onward]
            frontier += [route.to for route in stage.routes.values()] if is_limited else []
        return reached
