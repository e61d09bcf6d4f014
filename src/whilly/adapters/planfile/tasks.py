"""Reads the tasks of a plan file."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final

from whilly.adapters.planfile.fields import Fields, kind
from whilly.adapters.planfile.findings import shown
from whilly.adapters.planfile.graph import find_cycles
from whilly.domain.claims import Refused, normalize
from whilly.domain.confinement import Tier
from whilly.domain.ids import ItemId
from whilly.domain.text.prose import is_prose
from whilly.domain.work_item import ItemStatus, Priority, WorkItem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whilly.adapters.planfile.document import Member, Node
    from whilly.adapters.planfile.findings import Findings

KNOWN_KEYS: Final = frozenset(
    {
        "id",
        "phase",
        "category",
        "priority",
        "description",
        "status",
        "dependencies",
        "key_files",
        "acceptance_criteria",
        "test_steps",
        "prd_requirement",
        "github_issue",
        "github_url",
        "jira_key",
        "jira_url",
        "agent",
        "model",
        "isolation",
    }
)
MAX_ID_LENGTH: Final = 200

_MAX_CYCLES: Final = 20
_MAX_NAMED: Final = 12
_BIDI_CONTROLS: Final = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


@dataclass(slots=True)
class Tasks:
    """What was read.

    Attributes:
        ids_at: where each id is written.
        dependencies: for every item, what it depends on and where that is written.
    """

    items: list[WorkItem] = field(default_factory=list)
    statuses: dict[ItemId, ItemStatus] = field(default_factory=dict)
    ids_at: dict[ItemId, int] = field(default_factory=dict)
    dependencies: dict[ItemId, dict[ItemId, int]] = field(default_factory=dict)


def read_tasks(nodes: Sequence[Node], findings: Findings) -> Tasks:
    """All tasks that can be made out; what is wrong in them and between them is reported."""
    tasks = Tasks()
    for number, node in enumerate(nodes, start=1):
        if isinstance(node.value, dict):
            _read_task(node.start, node.value, f"task {number}", tasks, findings)
        else:
            what = f"task {number} is {kind(node)}"
            findings.error(node.start, what, "a task is an object", 'write {"id": "…", "description": "…"}')
    objects = [node.value for node in nodes if isinstance(node.value, dict)]
    report_unknown_keys(objects, KNOWN_KEYS, "task", findings)
    _check_dependencies(tasks, findings)
    _check_cycles(tasks, findings)
    return tasks


def report_unknown_keys(
    objects: Sequence[dict[str, Member]], known: frozenset[str], owner: str, findings: Findings
) -> None:
    """One warning for every key that means nothing here, at its first place."""
    places: dict[str, list[int]] = {}
    for members in objects:
        for key in members.keys() - known:
            places.setdefault(key, []).append(members[key].key_start)
    for key, offsets in places.items():
        near = findings.nearest(key, sorted(known))
        times = "" if len(offsets) == 1 else f", {len(offsets)} times in all"
        remedy = f"did you mean `{near}`?" if near else "nothing to do, unless it is misspelt"
        what = f"unknown {owner} key `{shown(key)}`{times}"
        findings.warning(min(offsets), what, "it is kept in the file but does nothing", remedy)


def _read_task(start: int, members: dict[str, Member], owner: str, tasks: Tasks, findings: Findings) -> None:
    item_id = _read_id(start, Fields(members, owner, findings), owner, tasks, findings)
    named = f"task {shown(item_id)}" if item_id else owner
    fields = Fields(members, named, findings)
    dependencies: dict[ItemId, int] = {}
    for text, entry in fields.texts("dependencies"):
        dependencies.setdefault(ItemId(text), entry.start)
    item = WorkItem(
        id=item_id or ItemId(owner),
        description=fields.text("description"),
        priority=fields.choice("priority", Priority, Priority.MEDIUM),
        phase=fields.label("phase"),
        category=fields.label("category"),
        dependencies=tuple(dependencies),
        key_files=_read_claims(fields, named, findings),
        acceptance_criteria=tuple(text for text, _ in fields.texts("acceptance_criteria")),
        test_steps=_read_steps(fields, named, findings),
        prd_requirement=fields.text("prd_requirement"),
        agent=fields.text("agent"),
        model=fields.text("model"),
        isolation=fields.choice("isolation", Tier, Tier.OPEN),
    )
    status = fields.choice("status", ItemStatus, ItemStatus.PENDING)
    node = fields.find("description")
    if node is None or (node.value == "" and not item.acceptance_criteria):
        why = "the agent would not know what to do"
        findings.error(start, f"{named} has no description", why, 'write "description": "…"')
    if item_id:
        tasks.items.append(item)
        tasks.statuses[item_id] = status
        tasks.dependencies[item_id] = dependencies


def _read_id(start: int, fields: Fields, owner: str, tasks: Tasks, findings: Findings) -> ItemId | None:
    """The task's id; None when it has none that can be used, which is reported."""
    node = fields.find("id")
    if node is None or not isinstance(node.value, str):
        what = f"{owner} has no id" if node is None else f"the id of {owner} is {kind(node)}"
        remedy = 'write "id": "TASK-1"' if node is None else "put it in double quotes"
        findings.error(node.start if node else start, what, "a task is known by its id, a text", remedy)
        return None
    if fault := _fault_of_id(node.value):
        why = "ids appear in commits, branches and on the terminal"
        findings.error(node.start, f"the id of {owner} {fault}", why, "choose a short plain id such as TASK-1")
        return None
    item_id = ItemId(node.value)
    if item_id in tasks.ids_at:
        why = f"it is already the id of the task at {findings.place(tasks.ids_at[item_id])}"
        findings.error(node.start, f"the id {shown(item_id)} occurs twice", why, "give one of them another id")
        return None
    tasks.ids_at[item_id] = node.start
    return item_id


def _fault_of_id(text: str) -> str:
    if not text.strip():
        return "is empty"
    if len(text) > MAX_ID_LENGTH:
        return f"has {len(text)} characters, more than {MAX_ID_LENGTH}"
    if any(unicodedata.category(char) in {"Cc", "Cs"} for char in text):
        return "contains a control character"
    if any(unicodedata.bidirectional(char) in _BIDI_CONTROLS for char in text):
        return "contains a character that turns the direction of writing"
    return ""


def _read_claims(fields: Fields, owner: str, findings: Findings) -> tuple[str, ...]:
    claims: list[str] = []
    for text, entry in fields.texts("key_files"):
        match normalize(text):
            case Refused(reason="is empty"):
                why = "it claims nothing"
                findings.warning(entry.start, f"an empty path in key_files of {owner}", why, "remove it")
            case Refused(reason=reason):
                what = f"`{shown(text)}` in key_files of {owner} {reason}"
                why = "tasks change files inside the repository only"
                findings.error(entry.start, what, why, "write a path such as src/app.py, src/ or src/**/*.py")
            case claim:
                claims.append(claim)
    return tuple(dict.fromkeys(claims))


def _read_steps(fields: Fields, owner: str, findings: Findings) -> tuple[str, ...]:
    steps: list[str] = []
    for text, entry in fields.texts("test_steps"):
        if text.strip():
            steps.append(text)
        if is_prose(text):
            what = f"`{shown(text)}` in test_steps of {owner} reads like a sentence"
            why = "test steps are run as shell commands, so this one will fail"
            findings.warning(entry.start, what, why, "write a command, or move it to acceptance_criteria")
    return tuple(steps)


def _check_dependencies(tasks: Tasks, findings: Findings) -> None:
    for item_id, wanted in tasks.dependencies.items():
        for dependency, offset in wanted.items():
            if dependency == item_id:
                what = f"task {shown(item_id)} depends on itself"
                findings.error(offset, what, "it could never start", "remove it")
            elif dependency not in tasks.ids_at:
                near = findings.nearest(dependency, tasks.ids_at)
                remedy = f"did you mean `{near}`?" if near else "add that task or remove the dependency"
                what = f"task {shown(item_id)} depends on `{shown(dependency)}`, which is not in the plan"
                findings.error(offset, what, "it could never start", remedy)


def _check_cycles(tasks: Tasks, findings: Findings) -> None:
    known = {
        item_id: [each for each in wanted if each != item_id and each in tasks.dependencies]
        for item_id, wanted in tasks.dependencies.items()
    }
    for cycle in islice(find_cycles(known), _MAX_CYCLES):
        what = f"a cycle of dependencies: {_chain(cycle)}"
        offset = tasks.dependencies[cycle[-2]][cycle[-1]]
        remedy = f"remove one of these dependencies, such as {shown(cycle[-1])} of {shown(cycle[-2])}"
        findings.error(offset, what, "none of these tasks could ever start", remedy)


def _chain(cycle: Sequence[ItemId]) -> str:
    names = [shown(each) for each in cycle]
    if len(names) > _MAX_NAMED:
        half = _MAX_NAMED // 2
        names[half:-half] = [f"… {len(names) - _MAX_NAMED} more …"]
    return " → ".join(names)
