"""A piece of work as it is challenged: an issue, or a task of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whilly.domain.intake.spec import IssueSpec
    from whilly.domain.plan import Plan
    from whilly.domain.work_item import WorkItem


@dataclass(frozen=True, slots=True)
class Piece:
    """What is said of a piece of work.

    Attributes:
        text: everything, title included.
        checks: how many criteria and commands there are.
    """

    id: str
    title: str
    text: str
    criteria: tuple[str, ...] = ()
    checks: int = 0
    key_files: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()


def read_plan(plan: Plan) -> tuple[Piece, ...]:
    """The tasks of a plan."""
    return tuple(map(_read_item, plan.items))


def _read_item(item: WorkItem) -> Piece:
    return Piece(
        id=item.id,
        title=item.title,
        text="\n".join([item.description, *item.acceptance_criteria]),
        criteria=item.acceptance_criteria,
        checks=len(item.acceptance_criteria) + len(item.test_steps),
        key_files=item.key_files,
        dependencies=item.dependencies,
    )


def read_spec(spec: IssueSpec) -> Piece:
    """An issue; on what it depends lies outside of it."""
    criteria = tuple(each.text for each in spec.criteria if not each.is_done)
    told = (spec.title, spec.problem, spec.expected, *criteria, *(each.text for each in spec.checklist))
    expected = 1 if spec.expected else 0
    return Piece(
        id=f"#{spec.key}" if spec.key.isdigit() else spec.key,
        title=spec.title,
        text="\n".join(part for part in told if part),
        criteria=criteria,
        checks=len(criteria) + len(spec.checklist) + len(spec.test_steps) + len(spec.manual_checks) + expected,
        key_files=spec.key_files,
    )
