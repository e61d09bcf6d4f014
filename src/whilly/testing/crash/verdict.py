"""What must be true when a plan that was disturbed is through."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from whilly.testing.crash.site import Facts, Site

PRICE = 10_000
"""What a session of the scripted agent costs, in millionths of a dollar."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that must not be.

    Attributes:
        kind: `lost` and `doubled` commits, `orphan` processes, a `stuck` run; `status`, `attempts`, `money`, `left`
            and `checkout` for the rest.
    """

    kind: str
    text: str


@dataclass(slots=True)
class Verdict:
    """What came of one kill.

    Attributes:
        name: what was done.
        kills: how many processes were killed.
        recovery: seconds from the start of the next process until it works on the plan; None when it never did.
    """

    name: str
    faults: list[Fault] = field(default_factory=list)
    kills: int = 0
    recovery: float | None = None

    def count(self, kind: str) -> int:
        """How many faults of a kind there are."""
        return sum(fault.kind == kind for fault in self.faults)


def judge(site: Site, before: Facts, expected: Mapping[str, str], targets: tuple[str, ...]) -> list[Fault]:
    """Everything that is wrong at a site whose plans are through.

    Args:
        site: where Whilly has run to its end.
        before: the ledger as the killed process left it.
        expected: every item's status.
        targets: the branches that finished items were integrated into.
    """
    facts = site.read()
    found = [Fault("orphan", process) for process in site.leftovers()]
    if facts.statuses != dict(expected):
        found.append(Fault("status", f"{dict(facts.statuses)} instead of {dict(expected)}"))
    found += _judge_commits(site, facts, targets)
    found += _judge_attempts(site, facts)
    found += _judge_money(facts, before)
    found += _judge_rest(site, facts)
    return found


def _judge_commits(site: Site, facts: Facts, targets: tuple[str, ...]) -> Iterator[Fault]:
    git = site.repository.git
    trailers = git("log", "--format=%(trailers:key=Whilly-Item,valueonly,separator=%x2C)", *targets, "^main").split()
    done = {name for name, status in facts.statuses.items() if status == "done"}
    for name, times in Counter(trailers).items():
        if times > 1 or name not in done:
            yield Fault("doubled", f"{name} has {times} commits on {targets} and is {facts.statuses.get(name)}")
    for name in sorted(done - set(trailers)):
        yield Fault("lost", f"{name} is done, but {targets} has no commit of it")
    reachable = set(git("rev-list", "--all").split())
    for commit in site.said("committed"):
        if commit not in reachable:
            yield Fault("lost", f"no ref holds {commit}, which an agent made")


def _judge_attempts(site: Site, facts: Facts) -> Iterator[Fault]:
    for run, rows in groupby(facts.attempts, key=lambda row: row[0]):
        listed = list(rows)
        if [number for _, number, _, _ in listed] != list(range(1, len(listed) + 1)):
            yield Fault("attempts", f"{run} has the attempts {[number for _, number, _, _ in listed]}")
        for _, number, outcome, _ in listed:
            if outcome is None:
                yield Fault("attempts", f"{run}/{number} has no outcome")
    for attempt, times in Counter(site.said("started")).items():
        if times > 1:
            yield Fault("doubled", f"the agent of {attempt} was started {times} times")


def _judge_money(facts: Facts, before: Facts) -> Iterator[Fault]:
    outcomes = {(run, number): outcome for run, number, outcome, agent in facts.attempts if agent}
    if set(facts.spend) != set(outcomes):
        yield Fault("money", f"attempts of agents and their costs differ: {set(facts.spend) ^ set(outcomes)}")
    for key, cost in facts.spend.items():
        if cost is None:
            yield Fault("money", f"{key} has ended and still only reserves")
        elif outcomes.get(key) == "completed" and (cost != PRICE or key in facts.reserved):
            yield Fault("money", f"{key} has completed and counts {cost}")
    for key, cost in before.spend.items():
        if key not in facts.spend or (cost is not None and facts.spend[key] != cost):
            yield Fault("money", f"{key} had cost {cost} when Whilly was killed, and costs {facts.spend.get(key)} now")


def _judge_rest(site: Site, facts: Facts) -> Iterator[Fault]:
    git = site.repository.git
    if set(facts.phases) - {"idle"}:
        yield Fault("stuck", f"plans are {facts.phases}")
    if facts.open_runs:
        yield Fault("left", f"{facts.open_runs} runs were not put away")
    trees = [line for line in git("worktree", "list", "--porcelain").splitlines() if line.startswith("worktree ")]
    if len(trees) > 1:
        yield Fault("left", f"work trees: {trees[1:]}")
    for folder in ("worktrees", "checkouts"):
        place = site.root / ".whilly" / folder
        if left := [path.name for path in place.iterdir()] if place.is_dir() else []:
            yield Fault("left", f"in {folder}: {left}")
    if changed := git("status", "--porcelain"):
        yield Fault("checkout", f"the user's own checkout changed: {changed}")
    if git("symbolic-ref", "HEAD") != "refs/heads/main" or git("rev-list", "--count", "main") != "2":
        yield Fault("checkout", "the user's own branch moved")
