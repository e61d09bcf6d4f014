"""A product description as values, and everything that is wrong with one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Final

from whilly.domain.claims import Refused, normalize
from whilly.domain.text.names import slugify
from whilly.domain.work_item import Priority

if TYPE_CHECKING:
    from collections.abc import Iterator

SLUG_LENGTH: Final = 50

_ID = re.compile(r"[A-Za-z]{1,6}[-.]?\d+(?:\.\d+)*")


@dataclass(frozen=True, slots=True)
class Requirement:
    """Something that has to be built.

    Attributes:
        id: `F1`, `F1.2`: letters and numbers, by which others refer to it.
        criteria: what has to be true; each can be checked.
        test_steps: commands that prove it.
        depends: ids of requirements that come first.
    """

    id: str
    title: str
    criteria: tuple[str, ...]
    text: str = ""
    phase: int = 1
    priority: Priority = Priority.MEDIUM
    key_files: tuple[str, ...] = ()
    test_steps: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of the way, in the order of the numbers.

    Attributes:
        effort: in people's words: `2 days`.
    """

    number: int
    goal: str
    effort: str = ""


@dataclass(frozen=True, slots=True)
class Hazard:
    """What may go wrong, and what is done about it."""

    risk: str
    mitigation: str


@dataclass(frozen=True, slots=True)
class Prd:
    """A product description.

    Attributes:
        context: the problem, and why now.
        users: who, and what they need.
        stories: `As a …, I want …, so that …`.
        non_goals: what is not built.
        metrics: numbers that say whether it was worth it.
    """

    title: str
    context: str
    users: tuple[str, ...] = ()
    stories: tuple[str, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    non_goals: tuple[str, ...] = ()
    architecture: str = ""
    phases: tuple[Phase, ...] = ()
    metrics: tuple[str, ...] = ()
    risks: tuple[Hazard, ...] = ()

    @property
    def slug(self) -> str:
        """For the file's name; never empty."""
        return slugify(self.title, SLUG_LENGTH) or "idea"

    @property
    def file(self) -> str:
        """Where it is kept, relative to the repository."""
        return f"docs/PRD-{self.slug}.md"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a product description.

    Attributes:
        where: the section, or the requirement.
        remedy: what to do about it.
    """

    where: str
    what: str
    remedy: str


def find_faults(prd: Prd) -> list[Fault]:
    """Everything that is wrong, at once, in the order of the document."""
    return [*_find_gaps(prd), *_find_bad_requirements(prd), *_find_bad_order(prd)]


def _find_gaps(prd: Prd) -> Iterator[Fault]:
    sections = {
        "title": (prd.title.strip(), "name it in a few words"),
        "context": (prd.context.strip(), "say which problem it solves, and for whom"),
        "users": (prd.users, "say who uses it, and what they need"),
        "stories": (prd.stories, "tell at least one story"),
        "requirements": (prd.requirements, "name at least one requirement with a criterion"),
        "non-goals": (prd.non_goals, "name at least one thing that is not built"),
        "metrics": (prd.metrics, "name a number that says whether it was worth it"),
        "risks": (prd.risks, "name at least one risk, and what is done about it"),
    }
    for name, (content, remedy) in sections.items():
        if not content:
            yield Fault(name, "says nothing", remedy)
    for hazard in prd.risks:
        if not hazard.mitigation.strip():
            yield Fault(
                "risks", f"nothing is done about “{hazard.risk[:80]}”", "say what is done, or that it is accepted"
            )


def _find_bad_requirements(prd: Prd) -> Iterator[Fault]:
    seen: set[str] = set()
    numbers = {phase.number for phase in prd.phases}
    for each in prd.requirements:
        where = f"requirement {each.id}"
        yield from (Fault(where, what, remedy) for what, remedy in _object(each))
        if each.id in seen:
            yield Fault(where, "its id occurs twice", "give one of them another id")
        seen.add(each.id)
        if numbers and each.phase not in numbers:
            yield Fault(where, f"there is no phase {each.phase}", "name a phase of the document")


def _object(each: Requirement) -> Iterator[tuple[str, str]]:
    """What is wrong with a requirement by itself, and what to do about it."""
    if not _ID.fullmatch(each.id):
        yield "its id is no plain name", "write F1, F1.2 and so on"
    if not each.title.strip():
        yield "it has no title", "name it in a few words"
    if not any(criterion.strip() for criterion in each.criteria):
        yield "it has no criterion", "add a line that can be checked"
    for path in each.key_files:
        settled = normalize(path)
        if isinstance(settled, Refused):
            yield f"the path `{path[:80]}` {settled.reason}", "write a path inside the repository"


def _find_bad_order(prd: Prd) -> Iterator[Fault]:
    by_id = {each.id: each for each in prd.requirements}
    for each in prd.requirements:
        where = f"requirement {each.id}"
        for name in each.depends:
            if name == each.id:
                yield Fault(where, "it depends on itself", "remove that")
            elif name not in by_id:
                yield Fault(where, f"it depends on `{name[:40]}`, which is not there", "name a requirement's id")
            elif by_id[name].phase > each.phase:
                what = f"it depends on {name} of a later phase ({by_id[name].phase} after {each.phase})"
                yield Fault(where, what, "move one of them to another phase")
    if circle := _find_circle(prd):
        yield Fault("requirements", f"they wait for each other: {' → '.join(circle)}", "remove one of the dependencies")
    numbers = [phase.number for phase in prd.phases]
    if numbers != sorted(set(numbers)):
        yield Fault("phases", "their numbers are not in order", "number them 1, 2, 3, each once")


def _find_circle(prd: Prd) -> list[str]:
    others = {each.id: [name for name in each.depends if name != each.id] for each in prd.requirements}
    try:
        TopologicalSorter(others).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        return circle[::-1]
    return []
