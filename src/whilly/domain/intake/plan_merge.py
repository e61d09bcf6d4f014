"""Issues into the tasks of a plan: which are new, which have changed, which are not wanted any more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, final

from whilly.domain.confinement import Tier
from whilly.domain.forge.issue import Issue, IssueState
from whilly.domain.ids import ItemId
from whilly.domain.intake.issue_text import read_issue
from whilly.domain.intake.normalize import normalize_issue
from whilly.domain.intake.spec import IssueSpec, make_item
from whilly.domain.intake.task_name import PREFIXES, find_dependency, find_issue, key_of, name_task
from whilly.domain.work_item import ItemStatus, WorkItem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whilly.domain.forge.place import Place, Provider
    from whilly.domain.forge.reference import IssueRef

REFRESHED: Final = (
    "description",
    "priority",
    "key_files",
    "acceptance_criteria",
    "test_steps",
    "prd_requirement",
    "dependencies",
)
"""The fields of a task that follow its issue; people own all others."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task that the plan has.

    Attributes:
        status: the ledger's where the plan was begun, otherwise the file's.
        url: the address of the issue that it is about, if it says one.
    """

    item: WorkItem
    status: ItemStatus
    url: str = ""


@dataclass(frozen=True, slots=True)
class Merge:
    """What is to be done to the plan; nothing else in it changes.

    Attributes:
        added: new tasks, in the order of the issues.
        changed: of tasks that are there, the fields that differ.
        unchanged: tasks whose issues say what they said.
        skipped: pending tasks that nobody wants any more, each with the reason.
        notes: what people should know: issues that were not meant, dependencies that could not be kept.
        left_out: issues that no task can be made of, each with the reason.
    """

    added: tuple[WorkItem, ...] = ()
    changed: Mapping[ItemId, Mapping[str, object]] = field(default_factory=dict)
    unchanged: tuple[ItemId, ...] = ()
    skipped: Mapping[ItemId, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether the plan stays as it is."""
        return not (self.added or self.changed or self.skipped)


def merge_issues(tasks: Iterable[Task], issues: Iterable[Issue], provider: Provider, places: Sequence[Place]) -> Merge:
    """What becomes of a plan when these issues go into it; the same issues once more change nothing.

    Args:
        tasks: what the plan has.
        issues: as they are now, with their comments; closed ones and pull requests are told from the others here.
        provider: whose they are.
        places: for reading addresses.
    """
    merging = _Merging({task.item.id: task for task in tasks}, provider, places)
    wanted = list(merging.place(issues))
    return merging.finish(wanted)


@final
class _Merging:
    """One merge under way."""

    def __init__(self, tasks: Mapping[ItemId, Task], provider: Provider, places: Sequence[Place]) -> None:
        self._tasks, self._provider, self._places = tasks, provider, places
        self._ids: dict[str, ItemId] = {}
        """Issue → its task, of those that were there and those that come."""
        for task in tasks.values():
            ref = find_issue(task.url, places)
            if ref is not None and key_of(ref) not in self._ids:
                self._ids[key_of(ref)] = task.item.id
        self._taken = set(tasks)
        self._skipped: dict[ItemId, str] = {}
        self._notes: list[str] = []
        self._left_out: dict[str, str] = {}

    def place(self, issues: Iterable[Issue]) -> Iterator[tuple[ItemId, IssueRef, Issue]]:
        """The open issues, each with the id of its task; the others are dealt with."""
        seen: set[str] = set()
        for issue in issues:
            ref = find_issue(issue.url, self._places) or issue.ref
            if key_of(ref) in seen:
                continue
            seen.add(key_of(ref))
            item_id = self._find_own(ref)
            if issue.is_pull_request:
                self._notes.append(f"{ref.short} is a pull request and not imported")
            elif issue.state is IssueState.CLOSED:
                self._close(ref, issue.status, item_id)
            elif not make_item(normalize_issue(read_issue(issue)), ItemId(ref.short)).description.strip():
                self._left_out[ref.short] = "it has neither a title nor a text" + (
                    f"; its task {item_id} stays as it is" if item_id else ""
                )
            elif item_id is None and (other := self._ids.get(key_of(ref))):
                self._notes.append(f"{ref.short} is not imported: {other} is about it already")
            elif name := item_id or self._choose_name(ref):
                self._ids[key_of(ref)] = name
                self._taken.add(name)
                yield name, ref, issue

    def finish(self, wanted: Sequence[tuple[ItemId, IssueRef, Issue]]) -> Merge:
        """What is to be done, now that every issue has its id."""
        added: list[WorkItem] = []
        changed: dict[ItemId, Mapping[str, object]] = {}
        unchanged: list[ItemId] = []
        for item_id, ref, issue in wanted:
            item = self._make(item_id, ref, issue)
            task = self._tasks.get(item_id)
            if task is None:
                added.append(item)
            elif differing := find_differences(task.item, item):
                changed[item_id] = differing
            else:
                unchanged.append(item_id)
            if task is not None and task.status is ItemStatus.SKIPPED:
                self._notes.append(f"{ref.short} is open, and its task {item_id} stays skipped")
        self._tell_dependents({item.id for item in added} | changed.keys() | set(unchanged))
        return Merge(tuple(added), changed, tuple(unchanged), self._skipped, tuple(self._notes), self._left_out)

    def _find_own(self, ref: IssueRef) -> ItemId | None:
        """The task that an earlier import made of the issue."""
        about = self._ids.get(key_of(ref))
        return about if about in name_task(self._provider, ref) else None

    def _choose_name(self, ref: IssueRef) -> ItemId | None:
        names = name_task(self._provider, ref)
        name = next((each for each in names if each not in self._taken), None)
        if name is None:
            self._notes.append(f"{ref.short} is not imported: {names[0]} and {names[1]} are other tasks")
        elif name != names[0]:
            self._notes.append(f"{ref.short} is {name}: {names[0]} is another task")
        return name

    def _close(self, ref: IssueRef, status: str, item_id: ItemId | None) -> None:
        why = f"{ref.short} is closed" + ("" if status in {"", "closed"} else f" ({status})")
        task = self._tasks.get(item_id) if item_id else None
        if task is None:
            self._notes.append(f"{why} and not imported")
        elif task.status is ItemStatus.PENDING:
            self._skipped[task.item.id] = why
        elif task.status not in {ItemStatus.DONE, ItemStatus.SKIPPED}:
            self._notes.append(f"{why}, and its task {task.item.id} stays {task.status}")

    def _make(self, item_id: ItemId, ref: IssueRef, issue: Issue) -> WorkItem:
        spec = normalize_issue(read_issue(issue))
        self._notes += [f"{item_id}: {note}" for note in spec.notes]
        item = make_item(spec, item_id, tuple(dict.fromkeys(self._find_dependencies(item_id, ref, spec))))
        return replace(
            item,
            phase=f"{PREFIXES[self._provider]}-Issues",
            category=f"{self._provider}-issue",
            isolation=Tier.OPEN if issue.permission.can_write else Tier.CONTAINED,
        )

    def _find_dependencies(self, item_id: ItemId, ref: IssueRef, spec: IssueSpec) -> Iterator[ItemId]:
        """The tasks that the issue waits for; what can never be waited for is told."""
        for text in spec.dependencies:
            named = find_dependency(text, ref, self._places)
            found = self._ids.get(key_of(named)) if named else None
            other = found or (ItemId(text) if text in self._taken else None)
            if other is None:
                self._notes.append(f"{item_id} does not wait for {text}: that is no task of the plan")
            elif other == item_id:
                self._notes.append(f"{item_id} does not wait for {text}: that is the issue itself")
            elif other in self._skipped or self._is_skipped(other):
                self._notes.append(f"{item_id} does not wait for {text}: {other} is skipped")
            else:
                yield other

    def _is_skipped(self, item_id: ItemId) -> bool:
        return item_id in self._tasks and self._tasks[item_id].status is ItemStatus.SKIPPED

    def _tell_dependents(self, refreshed: set[ItemId]) -> None:
        """Tasks that wait for what is skipped now, and are not this import's to change."""
        for task in self._tasks.values():
            waits = [each for each in task.item.dependencies if each in self._skipped]
            if waits and task.item.id not in refreshed and task.status is ItemStatus.PENDING:
                self._notes.append(f"{task.item.id} waits for {', '.join(waits)}, which is skipped now")


def find_differences(old: WorkItem, new: WorkItem) -> Mapping[str, object]:
    """The fields that follow the issue and are not the same, with their new values."""
    return {name: getattr(new, name) for name in REFRESHED if getattr(new, name) != getattr(old, name)}
