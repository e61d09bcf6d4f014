"""Changes fields of tasks and appends tasks; every other byte of the file stays."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from whilly.adapters.planfile.document import Document, Fault, read
from whilly.domain.errors import RuleViolation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whilly.adapters.planfile.document import Member, Node
    from whilly.domain.ids import ItemId

_GAP: Final = re.compile(r"[ \t\r\n]*\Z")
_MAX_GAP: Final = 1_000
_STEP: Final = "  "


def compose(head: Mapping[str, object], tasks: Sequence[Mapping[str, object]]) -> bytes:
    """A new plan file."""
    return (json.dumps({**head, "tasks": list(tasks)}, ensure_ascii=False, indent=2) + "\n").encode()


def revise(
    original: bytes,
    changes: Mapping[ItemId, Mapping[str, object]],
    additions: Sequence[Mapping[str, object]] = (),
) -> bytes:
    """The same file with these fields of these tasks, and with these tasks behind the others.

    Raises:
        RuleViolation: these bytes have no list of tasks.
    """
    document = read(original)
    tasks = _find_tasks(document) if isinstance(document, Document) else None
    if isinstance(document, Fault) or tasks is None:
        why = f"{document.what}: {document.why}" if isinstance(document, Fault) else "it has no list `tasks`"
        message = f"the plan file cannot be changed: {why}"
        raise RuleViolation(message, remedy="restore the file")
    parts: list[str] = ["\ufeff"] if document.has_mark else []
    written = 0
    for start, end, text in sorted(_edits(document.text, tasks, changes, additions), key=lambda edit: edit[:2]):
        parts += [document.text[written:start], text]
        written = end
    return "".join([*parts, document.text[written:]]).encode()


def _find_tasks(document: Document) -> Node | None:
    root = document.root.value
    node = root["tasks"].node if isinstance(root, dict) and "tasks" in root else None
    return node if node is not None and isinstance(node.value, list) else None


def _edits(
    text: str,
    tasks: Node,
    changes: Mapping[ItemId, Mapping[str, object]],
    additions: Sequence[Mapping[str, object]],
) -> Iterator[tuple[int, int, str]]:
    nodes = tasks.value if isinstance(tasks.value, list) else []
    by_id = {str(item_id): fields for item_id, fields in changes.items()}
    for node in nodes:
        if isinstance(node.value, dict) and (fields := by_id.get(str(_id_of(node.value)))):
            yield from _change(text, node.value, fields)
    if not additions:
        return
    if nodes:
        gap = _gap_before(text, nodes[-1].start)
        rendered = "".join(f",{gap}{_render(each, gap)}" for each in additions)
        yield nodes[-1].end, nodes[-1].end, rendered
    else:
        outer = _gap_before(text, text.rfind('"tasks"', 0, tasks.start))
        gap = f"{outer}{_STEP}" if "\n" in outer else ""
        inner = f",{gap}".join(_render(each, gap) for each in additions)
        yield tasks.start, tasks.end, f"[{gap}{inner}{outer if gap else ''}]"


def _id_of(members: Mapping[str, Member]) -> object:
    return members["id"].node.value if "id" in members else None


def _change(text: str, members: Mapping[str, Member], fields: Mapping[str, object]) -> Iterator[tuple[int, int, str]]:
    last = max(members.values(), key=lambda member: member.node.end)
    gap = _gap_before(text, last.key_start)
    colon = text[last.key_end : last.node.start]
    for key, value in fields.items():
        rendered = _render(value, gap)
        if key in members:
            yield members[key].node.start, members[key].node.end, rendered
        else:
            yield last.node.end, last.node.end, f",{gap}{json.dumps(key)}{colon}{rendered}"


def _gap_before(text: str, offset: int) -> str:
    found = _GAP.search(text, max(0, offset - _MAX_GAP), offset)
    return found[0] if found else ""


def _render(value: object, gap: str) -> str:
    """The value laid out like its surroundings: on lines of their own, where these are."""
    if "\n" not in gap:
        return json.dumps(value, ensure_ascii=False)
    newline = "\r\n" if "\r\n" in gap else "\n"
    indent = gap.rpartition("\n")[2]
    return json.dumps(value, ensure_ascii=False, indent=2).replace("\n", newline + indent)
