"""What is going to be done about an issue, before it is done: by the rules, or as an agent has proposed it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from whilly.domain.challenge.finding import Kind
from whilly.domain.text.clean import clean
from whilly.domain.trust.strict_json import MAX_ENTRIES, is_text, read_object

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whilly.domain.challenge.finding import Review
    from whilly.domain.intake.spec import IssueSpec
    from whilly.domain.intake.strategy import Approach
    from whilly.domain.work_item import WorkItem

VERSION: Final = 1
RULES: Final = "rules"
LISTS: Final = ("modules", "files", "validation", "risks", "stop_conditions")
_KEYS: Final = frozenset({"problem", "tasks", *LISTS})


@dataclass(frozen=True, slots=True)
class WorkPlan:
    """The plan of one issue.

    Attributes:
        files: that are going to be changed or made; a guess.
        validation: how it is seen that it is done, commands first.
        stop_conditions: what ends the work before it is done, with a person.
        made_by: `rules`, or the name of an agent.
        notes: why a proposal was not taken.
    """

    problem: str
    modules: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    validation: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    stop_conditions: tuple[str, ...] = ()
    made_by: str = RULES
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """What an agent has proposed.

    Attributes:
        tasks: the issue taken apart, as JSON; empty when it is one piece of work.
    """

    plan: WorkPlan
    tasks: str = ""


def plan_by_rules(spec: IssueSpec, approach: Approach, made: Review, commands: Sequence[str]) -> WorkPlan:
    """The plan that follows from the issue alone: nothing in it is guessed.

    Args:
        spec: the issue.
        approach: how it is worked on.
        made: what speaks against it.
        commands: what the repository is checked with.
    """
    files = tuple(spec.key_files)
    checks = (*commands, *spec.test_steps, *(each.text for each in spec.criteria if not each.is_done))
    return WorkPlan(
        problem=spec.problem or spec.title,
        modules=tuple(dict.fromkeys(path.rpartition("/")[0] or "." for path in files)),
        files=files,
        validation=tuple(dict.fromkeys((*checks, *spec.manual_checks))),
        risks=tuple(each.text for each in made.objections if each.kind is Kind.MISSING_RISK),
        stop_conditions=tuple(str(each) for each in approach.stops),
    )


def read_proposal(text: str, agent: str, rules: WorkPlan) -> Proposal | str:
    """What an agent proposes; otherwise why its answer cannot be used.

    What the rules know stays: its validation and its stop conditions are added to theirs.

    Args:
        text: `{"problem", "modules", "files", "validation", "risks", "stop_conditions", "tasks"}` and nothing else.
        agent: whose answer it is.
        rules: the plan by the rules.
    """
    told = read_object(text, _KEYS)
    if isinstance(told, str):
        return told
    if not isinstance(told["problem"], str) or not _plain(told["problem"]) or len(told["problem"]) > _LONG:
        return f"problem has to be a text of at most {_LONG} characters"
    for name in LISTS:
        if not isinstance(told[name], list) or len(told[name]) > MAX_ENTRIES or not all(map(is_text, told[name])):
            return f"{name} has to be a list of at most {MAX_ENTRIES} short texts"
    if not isinstance(told["tasks"], list):
        return "tasks has to be a list"
    lists = {name: tuple(filter(None, map(_plain, told[name]))) for name in LISTS}
    for name in ("validation", "stop_conditions"):
        lists[name] = tuple(dict.fromkeys((*getattr(rules, name), *lists[name])))
    plan = WorkPlan(_plain(told["problem"]), made_by=agent, **lists)
    return Proposal(plan, json.dumps({"tasks": told["tasks"]}, ensure_ascii=False) if told["tasks"] else "")


_LONG: Final = 4_000


def _plain(text: str) -> str:
    return " ".join(clean(text).split())


def describe_plan(
    plan: WorkPlan, parts: Sequence[WorkItem] = (), *, issue: str = "", branch: str = ""
) -> dict[str, Any]:
    """`plan.json`.

    Args:
        plan: the plan.
        parts: what the issue was taken apart into.
        issue: the digest of the text that it is the plan of.
        branch: that the parts are put on.
    """
    return {
        "version": VERSION,
        "made_by": plan.made_by,
        "problem": plan.problem,
        **{name: list(getattr(plan, name)) for name in LISTS},
        "notes": list(plan.notes),
        "issue": issue,
        "branch": branch,
        "parts": [
            {
                "id": part.id,
                "title": part.title,
                "depends_on": list(part.dependencies),
                "files": list(part.key_files),
                "criteria": list(part.acceptance_criteria),
                "test_steps": list(part.test_steps),
            }
            for part in parts
        ],
    }


def tell_plan(document: Mapping[str, Any] | None) -> str:
    """The plan for whoever works by it; empty when nobody but the rules has made one, which say what the issue says.

    Args:
        document: as `describe_plan` made it.
    """
    if document is None or document["made_by"] == RULES:
        return ""
    named = {"modules": "Modules", "files": "Files", "validation": "It is done when", "risks": "Risks"}
    lines = ["The plan that was made of it:", document["problem"]]
    for name, title in named.items():
        lines += [f"{title}:", *(f"- {each}" for each in document[name])] if document[name] else []
    return "\n".join(lines)


def refuse(plan: WorkPlan, why: str) -> WorkPlan:
    """The plan by the rules, and why that of an agent was not taken."""
    return replace(plan, notes=(*plan.notes, why))
