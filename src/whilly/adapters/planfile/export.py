"""Writes statuses back into a plan file, and nothing else."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from whilly.adapters.planfile.document import Document, Fault, read
from whilly.domain.errors import RuleViolation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from whilly.adapters.planfile.document import Member
    from whilly.domain.ids import ItemId
    from whilly.domain.work_item import ItemStatus

_MAX_GAP: Final = 1_000
_TRAILING_SPACE: Final = re.compile(r"[ \t\r\n]*\Z")


def export(original: bytes, statuses: Mapping[ItemId, ItemStatus]) -> bytes:
    """The same file with these statuses: every other byte is as it was.

    Args:
        original: the file's content now.
        statuses: by item; tasks that are not named keep theirs, items that the file does not have are left out.

    Raises:
        RuleViolation: these bytes are no plan any more.
    """
    document = read(original)
    if isinstance(document, Fault):
        line, column = document.position
        message = f"the plan file cannot be updated: line {line}, column {column}: {document.what}: {document.why}"
        raise RuleViolation(message, remedy=document.remedy)
    parts: list[str] = ["\ufeff"] if document.has_mark else []
    written = 0
    for start, end, replacement in _edits(document, statuses):
        parts += [document.text[written:start], replacement]
        written = end
    return "".join([*parts, document.text[written:]]).encode("utf-8")


def _edits(document: Document, statuses: Mapping[ItemId, ItemStatus]) -> Iterator[tuple[int, int, str]]:
    """What to put in place of which part of the text, in the order of the text."""
    by_id = {str(item_id): status.value for item_id, status in statuses.items()}
    for members in _tasks(document):
        item_id = members["id"].node.value if "id" in members else None
        wanted = by_id.get(item_id) if isinstance(item_id, str) else None
        if wanted is None:
            continue
        status = members.get("status")
        if status is None:
            yield _addition(document.text, members, wanted)
        elif status.node.value != wanted:
            yield status.node.start, status.node.end, json.dumps(wanted)


def _tasks(document: Document) -> Iterator[dict[str, Member]]:
    root = document.root.value
    tasks = root["tasks"].node.value if isinstance(root, dict) and "tasks" in root else None
    if not isinstance(tasks, list):
        message = "the plan file cannot be updated: it has no list `tasks` any more"
        raise RuleViolation(message, remedy="restore the file and export again")
    return (node.value for node in tasks if isinstance(node.value, dict))


def _addition(text: str, members: dict[str, Member], status: str) -> tuple[int, int, str]:
    """A `status` behind the last key, laid out like that one."""
    last = max(members.values(), key=lambda member: member.node.end)
    gap = _TRAILING_SPACE.search(text, max(0, last.key_start - _MAX_GAP), last.key_start)
    colon = text[last.key_end : last.node.start]
    return last.node.end, last.node.end, f',{gap[0] if gap else ""}"status"{colon}{json.dumps(status)}'
