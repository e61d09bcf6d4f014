"""Takes out of other people's text what a person would not see, and says that it did."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

ESCAPES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)"  # titles, links
    r"|\x1b[ -/]*[0-~]",
)
"""What steers a terminal."""

MAX_CHARACTERS: Final = 60_000
MAX_LINES: Final = 2_000
HIDDEN: Final = "[hidden comment removed]"
"""Stands where a comment stood that the page does not show."""

_LINE_ENDS = re.compile("\r\n?|[\x85\u2028\u2029]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_JOINER = "[\u200c\u200d]"
_VARIANT = "[\ufe00-\ufe0f]"
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ufdd0-\ufdef\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
    # Persian, Indic scripts and composed emoji need single joiners; rows of them carry messages.
    f"|(?<![^\x00-\x7f]){_JOINER}|{_JOINER}(?![^\x00-\x7f\u200c\u200d])"
    f"|(?<![^\x00-\x7f]){_VARIANT}(?!\u20e3)|(?<={_VARIANT}){_VARIANT}"
    f"|(?<![{_HAN}])[\U000e0100-\U000e01ef]"
)
_OPENING = re.compile(r"(?P<begins>^[ \t]{0,3})?(?P<opening><!--|<!\[CDATA\[|<\?|<!(?=[A-Za-z]))", re.MULTILINE)
_CLOSINGS: Final = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>", "<!": ">"}
_DEFINITION = re.compile(
    r"^(?P<label> {0,3}\[[^\]^\n][^\]\n]{0,200}\]:[ \t]*)"
    r"(?P<target>[^\s\[]+)[ \t]*(?:\n[ \t]*)?(?P<title>[\"'(][^\n]*)$",
    re.MULTILINE,
)
"""A link's definition with a title: the page shows neither, unless something refers to it."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Text that a person and an agent see alike.

    Attributes:
        notes: what was taken out, for people: `2 hidden comments removed`; empty when nothing was.
    """

    text: str
    notes: tuple[str, ...] = ()


def decode(data: bytes) -> str:
    """Bytes that should be UTF-8 as text; what is not UTF-8 becomes U+FFFD."""
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def clean(text: str) -> str:
    r"""`text` without what a person would not see: terminal codes, control, zero-width, direction and tag characters.

    Lines end with `\n`; half a character becomes U+FFFD. Cleaning twice changes nothing.
    """
    text = _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", _LINE_ENDS.sub("\n", ESCAPES.sub("", text)))
    while (cleaned := _INVISIBLE.sub("", text)) != text:
        # Without the outer ones, others may have become neighbours.
        text = cleaned
    return text


def clean_foreign(text: str, characters: int = MAX_CHARACTERS, lines: int = MAX_LINES) -> Cleaned:
    """Markdown from a tracker, fit for a prompt: `clean`, with a mark in place of hidden comments, and not too long.

    Comments in code go as well: where code begins is told differently by every forge, and a comment that only the agent
    reads is worth more to an attacker than one in an example is to anybody else.

    Args:
        text: of any length.
        characters: how many are kept at most, before the mark that says how many are not.
        lines: the same for lines.
    """
    visible = clean(text)
    plain, hidden = _remove_hidden(visible)
    short = cut(plain, characters, lines)
    notes = []
    if hidden:
        notes.append(f"{hidden} hidden {'comment' if hidden == 1 else 'comments'} removed")
    if lost := _count_lost(text, visible):
        notes.append(f"{lost} invisible {'character' if lost == 1 else 'characters'} removed")
    if short != plain:
        notes.append(f"cut: it has {len(plain)} characters and {plain.count(chr(10)) + 1} lines")
    return Cleaned(short, tuple(notes))


def cut(text: str, characters: int, lines: int) -> str:
    """The beginning of the text within both limits; where it was longer, a last line says what is missing."""
    kept = "\n".join(text[:characters].split("\n", lines)[:lines])
    if kept == text:
        return text
    if len(kept) < len(text) and unicodedata.combining(text[len(kept)]):
        kept = kept[:-1]
    left_out = len(text) - len(kept)
    return f"{kept.rstrip()}\n[… {left_out} characters left out …]"


def _count_lost(text: str, visible: str) -> int:
    return len(_LINE_ENDS.sub("\n", text)) - len(visible)


def _remove_hidden(text: str) -> tuple[str, int]:
    """The text with marks in place of what no page shows, and how many there are."""
    parts: list[str] = []
    endless: set[str] = set()
    at = count = 0
    while found := _OPENING.search(text, at):
        end = _find_end(text, found, endless)
        parts.append(text[at : found.start("opening")])
        parts.append(found["opening"] if end is None else HIDDEN)
        count += end is not None
        at = found.end() if end is None else end
    marked, definitions = _DEFINITION.subn(rf"\g<label>\g<target> {HIDDEN}", "".join([*parts, text[at:]]))
    return marked, count + definitions


def _find_end(text: str, found: re.Match[str], endless: set[str]) -> int | None:
    """Behind the end of what is hidden; None where the page shows it as it is.

    Args:
        text: all of it.
        found: where something hidden may begin.
        endless: openings that are known to have no end from here on; looking again would take a square of the time.
    """
    opening = found["opening"]
    if opening == "<!--" and text.startswith((">", "->"), found.end()):
        return text.index(">", found.end()) + 1
    if opening not in endless:
        end = text.find(_CLOSINGS[opening], found.end())
        if end >= 0:
            return end + len(_CLOSINGS[opening])
        endless.add(opening)
    # Without an end it hides all that follows where it begins a line, and nothing elsewhere.
    return len(text) if found["begins"] is not None else None
