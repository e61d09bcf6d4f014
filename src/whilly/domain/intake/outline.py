"""The outline of a Markdown text: its sections, their lists and code, and its named lines (`**Files:** a, b`)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})[ \t]+(?P<title>\S.*)")
_BOLD = re.compile(r" {0,3}(?:\*\*|__)(?P<title>[^*_\n]{1,80}?)(?::?(?:\*\*|__):?)[ \t]*")
_NAMED = re.compile(
    r" {0,3}(?:[-*+][ \t]+)?(?:\*\*|__)(?P<name>[^*_:\n]{1,40}?)(?::(?:\*\*|__)|(?:\*\*|__):)[ \t]*(?P<value>\S.*)"
)
_ENTRY = re.compile(r"[ \t]*(?:[-*+•]|(?P<number>\d{1,3})[.)])[ \t]+(?:\[(?P<box>[ xXхХ])\][ \t]+)?(?P<text>\S.*)")
_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})(?P<rest>[^\n]*)")
_BOLD_LEVEL: Final = 7


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a list.

    Attributes:
        is_done: its box is ticked; None when it has none.
        number: of an entry of a numbered list.
    """

    text: str
    is_done: bool | None = None
    number: int | None = None


@dataclass(slots=True)
class Section:
    """What stands under a heading, headings below it included.

    Attributes:
        level: 0 for what stands before the first heading.
        named: the named lines: name → value.
        text: the lines that are neither entries nor code nor named.
        code: the lines of blocks of code.
    """

    title: str
    level: int
    entries: list[Entry] = field(default_factory=list)
    named: list[tuple[str, str]] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)

    @property
    def prose(self) -> str:
        """Its text as one."""
        return "\n".join(self.text).strip()


def read_outline(text: str) -> list[Section]:
    """The sections of the text in their order; the first has no title."""
    sections = [Section("", 0)]
    can_go_on = False
    for line, is_code in _mark_code(text):
        current = sections[-1]
        if is_code:
            current.code.append(line)
            continue
        if found := _HEADING.fullmatch(line):
            sections.append(Section(found["title"].rstrip().rstrip("#").rstrip(), len(found["marks"])))
        elif found := _BOLD.fullmatch(line):
            sections.append(Section(found["title"].strip(), _BOLD_LEVEL))
        elif found := _NAMED.fullmatch(line):
            current.named.append((found["name"].strip(), found["value"].strip()))
        elif found := _ENTRY.fullmatch(line):
            box = found["box"]
            number = int(found["number"]) if found["number"] else None
            current.entries.append(Entry(found["text"].strip(), None if box is None else box != " ", number))
            can_go_on = True
            continue
        elif can_go_on and line[:1] in {" ", "\t"} and line.strip():
            last = current.entries[-1]
            current.entries[-1] = replace(last, text=f"{last.text} {line.strip()}")
            continue
        else:
            current.text.append(line)
        can_go_on = False
    return sections


def _mark_code(text: str) -> Iterator[tuple[str, bool]]:
    """The lines, each with whether it stands in a block of code; the fences are left out."""
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.fullmatch(line)
        if fence:
            if found and found["marks"].startswith(fence) and not found["rest"].strip():
                fence = ""
            else:
                yield line, True
        elif found and "`" not in found["rest"]:
            fence = found["marks"]
        else:
            yield line, False


def join(sections: Iterable[Section]) -> Section:
    """One section, without a title, of everything that stands in these."""
    whole = Section("", 0)
    for each in sections:
        whole.entries += each.entries
        whole.named += each.named
        whole.text += each.text
        whole.code += each.code
    return whole
