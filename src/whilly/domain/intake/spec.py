"""An issue normalised: what was said, each thing in its field, and nothing that was not said."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from whilly.domain.intake.task_type import TaskType
from whilly.domain.work_item import Priority, WorkItem

if TYPE_CHECKING:
    from whilly.domain.ids import ItemId

VERSION: Final = 1
"""Of the form of `issue_spec.json`. Fields may be added; none changes its meaning."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """Something that has to be true in the end.

    Attributes:
        is_done: its box was ticked when the issue was read.
    """

    text: str
    is_done: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """A comment that agents may read, cleaned."""

    author: str
    text: str


@dataclass(frozen=True, slots=True)
class IssueSpec:
    """What is wanted. Text is cleaned; None and empty say that the issue does not tell it.

    Attributes:
        confidence: how sure `task_type` is, from 0 to 1.
        evidence: what `task_type` was read from.
        problem: the text that belongs to no other field.
        criteria: from the section on acceptance.
        checklist: boxes that stand elsewhere; they may be criteria, or steps, or a wish list.
        test_steps: commands of people who may change the repository; they are run.
        manual_checks: what the section on tests says in words, and commands of other people; they are not run.
        key_files: normalised claims.
        dependencies: as they are written: `#3`, `owner/repo#4`, `ABC-5`.
        strategy: the one that the issue asks for, as it is written.
        excluded: what is said not to be part of it.
        comments: of people with write access, or released.
        withheld: how many comments are not shown to agents.
        notes: what was taken out or could not be read.
    """

    key: str
    title: str
    url: str
    labels: tuple[str, ...]
    task_type: TaskType
    confidence: float
    evidence: tuple[str, ...]
    problem: str | None = None
    reproduction: str | None = None
    expected: str | None = None
    actual: str | None = None
    criteria: tuple[Criterion, ...] = ()
    checklist: tuple[Criterion, ...] = ()
    test_steps: tuple[str, ...] = ()
    manual_checks: tuple[str, ...] = ()
    key_files: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    priority: Priority | None = None
    strategy: str | None = None
    excluded: tuple[str, ...] = ()
    comments: tuple[Shown, ...] = ()
    withheld: int = 0
    notes: tuple[str, ...] = ()

    @property
    def absent(self) -> tuple[str, ...]:
        """The fields that the issue does not tell, by name."""
        told = {"withheld", "notes", "labels", "url", "checklist", "manual_checks", "excluded", "comments"}
        empty = (None, "", ())
        return tuple(each.name for each in fields(self) if each.name not in told and getattr(self, each.name) in empty)

    @property
    def text(self) -> str:
        """Everything that was said of what is wanted, as one text."""
        parts = [self.title, self.problem, self.reproduction, self.expected, self.actual]
        parts += [each.text for each in (*self.criteria, *self.checklist)]
        return "\n".join(part for part in (*parts, *self.manual_checks) if part)


def describe_spec(spec: IssueSpec) -> dict[str, Any]:
    """`issue_spec.json`: every field, with null and `[]` where nothing was said, and their names in `absent`."""
    described: dict[str, Any] = {"version": VERSION}
    for each in fields(spec):
        value = getattr(spec, each.name)
        described[each.name] = [_describe(one) for one in value] if isinstance(value, tuple) else value
    return {**described, "absent": list(spec.absent)}


def _describe(value: object) -> object:
    match value:
        case Criterion(text=text, is_done=is_done):
            return {"text": text, "is_done": is_done}
        case Shown(author=author, text=text):
            return {"author": author, "text": text}
        case _:
            return value


def make_item(spec: IssueSpec, item_id: ItemId, dependencies: tuple[ItemId, ...] = ()) -> WorkItem:
    """The issue as one task.

    Args:
        spec: the issue.
        item_id: such as `GH-12`.
        dependencies: the tasks that its dependencies are.
    """
    parts = [spec.title, spec.problem]
    named = (("Reproduction", spec.reproduction), ("Expected", spec.expected), ("Actual", spec.actual))
    parts += [f"{name}:\n{text}" for name, text in named if text]
    parts += [f"{each.author} says:\n{each.text}" for each in spec.comments]
    if spec.excluded:
        parts.append("\n".join(["Not part of it:", *(f"- {each}" for each in spec.excluded)]))
    criteria = [each.text for each in spec.criteria if not each.is_done]
    return WorkItem(
        id=item_id,
        description="\n\n".join(part for part in parts if part),
        priority=spec.priority or Priority.MEDIUM,
        phase="GH-Issues",
        category="github-issue",
        dependencies=dependencies,
        key_files=spec.key_files,
        acceptance_criteria=(*criteria, *spec.manual_checks),
        test_steps=spec.test_steps,
        prd_requirement=spec.url,
    )
