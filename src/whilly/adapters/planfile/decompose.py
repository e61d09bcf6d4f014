"""A large item becomes several: what an agent proposes, validated like any plan, wired and bounded.

The proposal is a plan in JSON, with ids of its own:

    {"tasks": [{"id": "1", "description": "…", "dependencies": [], "key_files": [], "acceptance_criteria": [],
                "test_steps": [], "estimated_cost_usd": 0.5}, …]}
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from typing_extensions import override

from whilly.adapters.planfile.parse import parse
from whilly.adapters.planfile.problem import Problem, Severity
from whilly.domain.claims import outside
from whilly.domain.ids import ItemId
from whilly.domain.work_item import WorkItem
from whilly.ports.delivery.divider import Divider

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


FEWEST: Final = 2

_NAME: Final = "decomposition.json"
_FENCED = re.compile(r"\s*```\w*[ \t]*\n(?P<inside>.*?)\n?```\s*", re.DOTALL)
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far an item may be taken apart.

    Attributes:
        depth: how often what the item came from was taken apart before; 0 for one that a person wrote.
        max_tasks: at most 26, as parts are named by letters.
        max_cost_usd: of all parts together, as estimated; None is no limit.
        commands: test steps that parts may have besides the item's own; others come from the agent, and what an agent
            proposes is not run as a command.
    """

    depth: int = 0
    max_depth: int = 3
    max_tasks: int = 5
    max_cost_usd: Decimal | None = None
    commands: Collection[str] = ()

    def less(self, spent: Decimal) -> Bounds:
        """The same, when that much is spent already."""
        cap = self.max_cost_usd
        return self if cap is None else replace(self, max_cost_usd=max(cap - spent, Decimal(0)))


@dataclass(frozen=True, slots=True)
class Decomposed:
    """What a proposal came to.

    Attributes:
        items: the parts, in the proposal's order; empty when there are errors.
        problems: everything that is wrong with it, at its place in the proposal.
    """

    items: tuple[WorkItem, ...]
    problems: tuple[Problem, ...]


def decompose(item: WorkItem, proposal: str, bounds: Bounds) -> Decomposed:
    """The parts of an item that a proposal names.

    Parts are called like the item with a letter behind it. Those that wait for no other part wait for what the item
    waits for; those that no other part waits for have the item's own test steps. What a part does not say (priority,
    phase, category, agent, model) it has from the item.

    Args:
        item: what is taken apart.
        proposal: the agent's answer: JSON, alone or in one block of code.
        bounds: what is allowed.
    """
    fenced = _FENCED.fullmatch(proposal)
    text = fenced["inside"] if fenced else proposal
    parsed = parse(text.encode("utf-8", "replace"), Path(_NAME), Path())
    if parsed.plan is None:
        return Decomposed((), parsed.problems)
    parts = parsed.plan.items
    raw = _read_tasks(text, parts)
    faults = [_fault(what, why, remedy) for what, why, remedy in _object(item, parts, raw, bounds)]
    dropped = {step for part in parts for step in part.test_steps} - {*item.test_steps, *bounds.commands}
    notes = [_note(step) for step in sorted(dropped)]
    warnings = [each for each in parsed.problems if "estimated_cost_usd" not in each.what]
    problems = (*warnings, *faults, *notes)
    return Decomposed(() if faults else tuple(_wire(item, parts, raw, dropped)), problems)


def _read_tasks(text: str, parts: Sequence[WorkItem]) -> dict[str, dict[str, Any]]:
    """The tasks as they are written, by the ids that were read; the text was found to be a plan."""
    tasks = json.loads(text.removeprefix("\ufeff"))["tasks"]
    # By their place: what is written may be no text that an id could be.
    return {part.id: task for part, task in zip(parts, tasks, strict=True)}


def _object(
    item: WorkItem, parts: Sequence[WorkItem], raw: dict[str, dict[str, Any]], bounds: Bounds
) -> Iterator[tuple[str, str, str]]:
    if bounds.depth >= bounds.max_depth:
        why = f"it was taken apart {bounds.depth} times already, and the limit is {bounds.max_depth}"
        yield f"{item.id} may not be taken apart again", why, "do it as it is, or let a person cut it"
    most = min(bounds.max_tasks, len(_LETTERS))
    if not FEWEST <= len(parts) <= most:
        yield f"{len(parts)} tasks", f"an item becomes {FEWEST} to {most}", "propose as many"
    yield from _object_to_files(item, parts)
    told = {_plain(each) for part in parts for each in (*part.acceptance_criteria, part.description)}
    for criterion in item.acceptance_criteria:
        if _plain(criterion) not in told:
            what = f"the criterion “{criterion[:100]}” of {item.id} is in none of the tasks"
            yield what, "it would be lost", "give it, word by word, to the task that meets it"
    for part in parts:
        if not part.acceptance_criteria and not part.test_steps:
            yield f"task {part.id} has no criterion", "nobody could tell that it is done", "add one"
    yield from _object_to_cost(parts, raw, bounds)


def _object_to_files(item: WorkItem, parts: Sequence[WorkItem]) -> Iterator[tuple[str, str, str]]:
    if not item.key_files:
        return
    for part in parts:
        if not part.key_files:
            yield (
                f"task {part.id} names no files",
                f"{item.id} names some, so that others can work beside it",
                "name them",
            )
        for path in outside(part.key_files, item.key_files):
            what = f"`{path}` in key_files of task {part.id} is outside of what {item.id} claims"
            yield what, "other tasks may be changing it", f"stay within {', '.join(item.key_files)}"


def _object_to_cost(
    parts: Sequence[WorkItem], raw: dict[str, dict[str, Any]], bounds: Bounds
) -> Iterator[tuple[str, str, str]]:
    if bounds.max_cost_usd is None:
        return
    total = Decimal(0)
    for part in parts:
        estimate = raw[part.id].get("estimated_cost_usd")
        if isinstance(estimate, bool) or not isinstance(estimate, int | float) or estimate < 0:
            what = f"task {part.id} has no estimated_cost_usd"
            yield what, f"all parts together may cost ${bounds.max_cost_usd}", "estimate it, in US dollars"
        else:
            total += Decimal(str(estimate))
    if total > bounds.max_cost_usd:
        why = f"together they may cost ${bounds.max_cost_usd}"
        yield f"the tasks are estimated at ${total}", why, "leave something out, or propose fewer"


def _wire(
    item: WorkItem, parts: Sequence[WorkItem], raw: dict[str, dict[str, Any]], dropped: set[str]
) -> Iterator[WorkItem]:
    names = {part.id: ItemId(f"{item.id}{letter}") for part, letter in zip(parts, _LETTERS, strict=False)}
    needed = {name for part in parts for name in part.dependencies}
    for part in parts:
        own = tuple(names[each] for each in part.dependencies)
        steps = [step for step in part.test_steps if step not in dropped]
        steps += [] if part.id in needed else item.test_steps
        given = raw[part.id]
        yield replace(
            part,
            id=names[part.id],
            dependencies=own or item.dependencies,
            test_steps=tuple(dict.fromkeys(steps)),
            priority=part.priority if given.get("priority") else item.priority,
            phase=part.phase or item.phase,
            category=part.category or item.category,
            prd_requirement=part.prd_requirement or item.prd_requirement,
            agent=item.agent,
            model=item.model,
        )


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(".").casefold()


def _fault(what: str, why: str, remedy: str) -> Problem:
    return Problem(_NAME, 0, 0, what, why, remedy)


def _note(step: str) -> Problem:
    what = f"the test step `{step[:100]}` is left out"
    why = "it comes from an agent, and neither the item nor the repository knows it"
    return Problem(_NAME, 0, 0, what, why, "nothing to do: the repository's own checks are run", Severity.WARNING)


def render_problems(problems: Iterable[Problem]) -> str:
    """The errors as a list that an agent can mend its proposal by."""
    return "\n".join(f"- {each}" for each in problems if each.is_error)


@final
class PlanDivider(Divider):
    """Takes items apart within these bounds; a proposal is read like a plan file."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds

    @override
    def take_apart(self, item: WorkItem, proposal: str, spent: Decimal = Decimal(0)) -> tuple[WorkItem, ...] | str:
        found = decompose(item, proposal, self._bounds.less(spent))
        return found.items or render_problems(found.problems)

    @override
    def describe_bounds(self) -> Mapping[str, tuple[str, ...]]:
        cap = self._bounds.max_cost_usd
        return {"max_parts": (str(self._bounds.max_tasks),), "budget": (str(cap),) if cap is not None else ()}
