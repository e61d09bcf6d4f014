"""The outline of a Markdown text: its sections, their lists and code, and its named lines (`**Files:** a, b`)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})[ \t]+(?P<title>\S.*)")
_BOLD = re.compile(r" {0,3}(?:\*\*|__)(?P<title>[^*_\n]{1,80}?)(?::?(?:\*\*|__):?)[ \t]*")
_NAMED = re.compile(
    r" {0,3}(?:[-*+][ \t]+)?(?:\*\*|__)(?P<name>[^*_:\n]{1,40}?)(?::(?:\*\*|__)|(?:\*\*|__):)[ \t]*(?P<value>\S.*)"
)
_PLAIN = re.compile(r" {0,3}(?P<name>[^\W\d_][^:\n`*]{1,40}):[ \t]*(?P<value>.*)")
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


def read_outline(text: str, knows: Callable[[str], object] = lambda _: False) -> list[Section]:
    """The sections of the text in their order; the first has no title.

    Args:
        text: Markdown.
        knows: whether a name is known: `Expected: …` without any marks counts as a named line then, and a line
            `Acceptance criteria:` as a heading.
    """
    sections = [Section("", 0)]
    can_go_on = False
    for line, is_code in _mark_code(text):
        current = sections[-1]
        if is_code:
            current.code.append(line)
            continue
        found = _ENTRY.fullmatch(line)
        if heading := _read_heading(line, knows):
            sections.append(heading)
        elif named := _read_named(line, knows):
            current.named.append(named)
        elif found:
            current.entries.append(_read_entry(found))
        elif can_go_on and line[:1] in {" ", "\t"} and line.strip():
            last = current.entries[-1]
            current.entries[-1] = replace(last, text=f"{last.text} {line.strip()}")
            continue
        else:
            current.text.append(line)
        can_go_on = sections[-1] is current and bool(found) and bool(current.entries)
    return sections


def _read_heading(line: str, knows: Callable[[str], object]) -> Section | None:
    if found := _HEADING.fullmatch(line):
        return Section(found["title"].rstrip().rstrip("#").rstrip(), len(found["marks"]))
    if found := _BOLD.fullmatch(line):
        return Section(found["title"].strip(), _BOLD_LEVEL)
    found = _PLAIN.fullmatch(line)
    return (
        Section(found["name"].strip(), _BOLD_LEVEL) if found and not found["value"] and knows(found["name"]) else None
    )


def _read_named(line: str, knows: Callable[[str], object]) -> tuple[str, str] | None:
    found = _NAMED.fullmatch(line)
    if not found:
        plain = _PLAIN.fullmatch(line)
        found = plain if plain and knows(plain["name"]) else None
    return (found["name"].strip(), found["value"].strip()) if found else None


def _read_entry(found: re.Match[str]) -> Entry:
    box = found["box"]
    number = int(found["number"]) if found["number"] else None
    return Entry(found["text"].strip(), None if box is None else box != " ", number)


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
