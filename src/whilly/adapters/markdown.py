"""The Markdown that Whilly writes, as blocks and pieces of lines: what trackers with other languages are given."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

_FENCE = re.compile(r"(?P<fence>`{3,}|~{3,})(?P<language>[\w+-]*).*")
_HEADING = re.compile(r"(?P<level>#{1,6})\s+(?P<text>.*)")
_ITEM = re.compile(r"\s*(?:(?P<bullet>[-*])|(?P<number>\d+)[.)])\s+(?P<text>.*)")
_PIECE = re.compile(
    r"`(?P<code>[^`\n]+)`|\*\*(?P<strong>[^*\n]+)\*\*|\[(?P<label>[^\]\n]+)\]\((?P<link>https?://[^\s)]+)\)"
)


@dataclass(frozen=True, slots=True)
class Block:
    """One block.

    Attributes:
        lines: of a paragraph or of code; the items of a list; one for a heading.
        detail: the level of a heading, the language of code.
    """

    kind: Literal["paragraph", "heading", "code", "bullets", "numbers"]
    lines: tuple[str, ...]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a line; `link` is where it leads."""

    text: str
    style: Literal["", "code", "strong", "link"] = ""
    link: str = ""


def read_blocks(text: str) -> list[Block]:
    """The blocks of a text; what is none of the others is a paragraph."""
    found: list[Block] = []
    lines = text.replace("\r\n", "\n").split("\n")
    while lines:
        fence = _FENCE.fullmatch(lines[0].strip())
        if fence:
            lines.pop(0)
            found.append(Block("code", tuple(_take_code(lines, fence["fence"])), fence["language"]))
        elif heading := _HEADING.fullmatch(lines[0]):
            lines.pop(0)
            found.append(Block("heading", (heading["text"],), str(len(heading["level"]))))
        elif item := _ITEM.fullmatch(lines[0]):
            kind: Literal["bullets", "numbers"] = "bullets" if item["bullet"] else "numbers"
            found.append(Block(kind, tuple(_take_items(lines, kind))))
        elif not lines[0].strip():
            lines.pop(0)
        else:
            found.append(Block("paragraph", tuple(_take_paragraph(lines))))
    return found


def read_pieces(line: str) -> list[Piece]:
    """The pieces of a line."""
    found: list[Piece] = []
    start = 0
    for match in _PIECE.finditer(line):
        if match.start() > start:
            found.append(Piece(line[start : match.start()]))
        if match["code"]:
            found.append(Piece(match["code"], "code"))
        elif match["strong"]:
            found.append(Piece(match["strong"], "strong"))
        else:
            found.append(Piece(match["label"], "link", match["link"]))
        start = match.end()
    return [*found, *([Piece(line[start:])] if start < len(line) else [])]


def _take_code(lines: list[str], fence: str) -> Iterator[str]:
    while lines:
        line = lines.pop(0)
        if line.strip() == fence:
            return
        yield line


def _take_items(lines: list[str], kind: str) -> Iterator[str]:
    while lines and (item := _ITEM.fullmatch(lines[0])):
        if (kind == "bullets") is not bool(item["bullet"]):
            return
        lines.pop(0)
        yield item["text"]


def _take_paragraph(lines: list[str]) -> Iterator[str]:
    while lines and lines[0].strip():
        if any(pattern.fullmatch(lines[0].strip()) for pattern in (_FENCE, _HEADING, _ITEM)):
            return
        yield lines.pop(0)
