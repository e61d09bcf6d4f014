"""From the bytes of a plan file to a plan, or to everything that is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from whilly.adapters.planfile.document import MAX_BYTES, Document, Fault, read
from whilly.adapters.planfile.fields import Fields, kind
from whilly.adapters.planfile.findings import Findings, printable, shown
from whilly.adapters.planfile.identity import plan_id, relative_name, slug
from whilly.adapters.planfile.problem import Problem
from whilly.adapters.planfile.tasks import Tasks, read_tasks, report_unknown_keys
from whilly.domain.plan import Plan

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.adapters.planfile.document import Member

KNOWN_KEYS: Final = frozenset(
    {"project", "prd_file", "created_at", "agent_instructions", "source", "total_tasks", "tasks"}
)
MOMENTS: Final = {
    "before_start": "before_start",
    "before": "before_start",
    "during_work": "during_work",
    "before_finish": "before_finish",
    "after": "before_finish",
}
"""The keys of `agent_instructions` and the moments that they mean."""

_EXAMPLE: Final = 'write {"tasks": [{"id": "TASK-1", "description": "…"}]}'


@dataclass(frozen=True, slots=True)
class Parsed:
    """What became of a plan file.

    Attributes:
        plan: None when there is an error among the problems.
        problems: errors and warnings in the order of the file.
    """

    plan: Plan | None
    problems: tuple[Problem, ...]


def load(path: Path, repository: Path) -> Parsed:
    """Read and parse a plan file; a file that cannot be read is a problem like any other."""
    name = printable(relative_name(path, repository))
    try:
        if not path.is_file():
            return _refused(name, "not a plan file", _tell_missing(path), "name an existing plan file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        return _refused(name, "the plan file cannot be read", error.strerror or str(error), "check its permissions")
    return parse(data, path, repository)


def parse(data: bytes, path: Path, repository: Path) -> Parsed:
    """The plan in these bytes, with all problems at once.

    Args:
        data: the file's content.
        path: where it came from; it gives the plan its id and, without a `project`, its name.
        repository: the root that the plan's paths are relative to.
    """
    name = printable(relative_name(path, repository))
    document = read(data)
    if isinstance(document, Fault):
        line, column = document.position
        return Parsed(None, (Problem(name, line, column, document.what, document.why, document.remedy),))
    findings = Findings(name, document)
    plan = _read_plan(document, path, repository, findings)
    return Parsed(None if findings.has_errors else plan, findings.in_order())


def _tell_missing(path: Path) -> str:
    if path.exists():
        return "it is not a regular file"
    return "it is a link that leads nowhere" if path.is_symlink() else "there is no such file"


def _refused(name: str, what: str, why: str, remedy: str) -> Parsed:
    return Parsed(None, (Problem(name, 0, 0, what, why, remedy),))


def _read_plan(document: Document, path: Path, repository: Path, findings: Findings) -> Plan | None:
    for key, first, second in document.repeated:
        why = f"it stands already at {findings.place(first)}, and only one of them can count"
        findings.error(second, f"the key `{shown(key)}` occurs twice", why, "remove one of them")
    root = document.root
    if not isinstance(root.value, dict):
        findings.error(root.start, f"the plan is {kind(root)}", "a plan is an object with a list `tasks`", _EXAMPLE)
        return None
    fields = Fields(root.value, "the plan", findings)
    name = fields.text("project").strip() or path.stem
    instructions = _read_instructions(fields, findings)
    report_unknown_keys([root.value], KNOWN_KEYS, "plan", findings)
    tasks = _read_tasks(fields, root.start, findings)
    return Plan(
        id=plan_id(path, repository),
        name=name,
        slug=slug(name),
        source=str(path.absolute()),
        items=tuple(tasks.items),
        statuses=tasks.statuses,
        instructions=instructions,
    )


def _read_tasks(fields: Fields, start: int, findings: Findings) -> Tasks:
    node = fields.find("tasks")
    if node is None:
        findings.error(start, "the plan has no list `tasks`", "there is nothing to do", _EXAMPLE)
        return Tasks()
    if not isinstance(node.value, list):
        findings.error(node.start, f"tasks of the plan is {kind(node)}", "it must be a list of objects", _EXAMPLE)
        return Tasks()
    if not node.value:
        findings.error(node.start, "the plan is empty", "there is nothing to do", _EXAMPLE)
    return read_tasks(node.value, findings)


def _read_instructions(fields: Fields, findings: Findings) -> dict[str, tuple[str, ...]]:
    node = fields.find("agent_instructions")
    if node is None:
        return {}
    if not isinstance(node.value, dict):
        what = f"agent_instructions of the plan is {kind(node)}"
        findings.error(node.start, what, "it must be an object", 'write {"before_start": ["…"]}')
        return {}
    report_unknown_keys([node.value], frozenset(MOMENTS), "agent_instructions", findings)
    return _by_moment(node.value, Fields(node.value, "agent_instructions", findings))


def _by_moment(members: dict[str, Member], fields: Fields) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for key in members:
        if key in MOMENTS:
            node = fields.find(key)
            is_text = node is not None and isinstance(node.value, str)
            texts = (fields.text(key),) if is_text else tuple(text for text, _ in fields.texts(key))
            found[MOMENTS[key]] = found.get(MOMENTS[key], ()) + texts
    return {moment: texts for moment, texts in found.items() if texts}
