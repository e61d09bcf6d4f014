"""JSON text in which every value knows where it stands.

The standard decoder reads the scalars; this module walks what is around them, so that a problem can be shown at its
line and column and a value can be replaced without touching its neighbours. It is stricter than the standard decoder:
keys that occur twice are noted, `NaN` and `Infinity` are not values, nesting has a limit.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder
from typing import Final, NamedTuple, NoReturn, TypeAlias, final

from typing_extensions import override

MAX_BYTES: Final = 50 * 1024 * 1024
MAX_DEPTH: Final = 100

_BOM: Final = "\ufeff"
_SPACE = re.compile(r"[ \t\r\n]*")
_LINE_BREAK = re.compile(r"\n")
_SCALAR_START = re.compile(r'["\-0-9tfnNI]')
_CLOSING: Final = {"{": "}", "[": "]"}
_NAMES: Final = {"{": "object", "[": "list"}
_FOREIGN: Final = {
    "'": ("a single quote", "JSON text stands in double quotes", 'write "…"'),
    "/": ("a comment", "JSON has no comments", "remove it"),
    "#": ("a comment", "JSON has no comments", "remove it"),
}
_STRING_FAULTS: Final = {
    "Unterminated string": (
        "a text without an end",
        'its closing `"` is missing',
        'add the `"` where the text ends',
    ),
    "Invalid control character": (
        "a raw control character in a text",
        "JSON writes line breaks, tabs and the like as escapes",
        "write \\n, \\t or \\u0000 and so on instead",
    ),
    "Invalid \\": (
        "a `\\` that begins no escape",
        'after `\\` only ", \\, /, b, f, n, r, t and u with four hexadecimal digits may stand',
        "write `\\\\` for a backslash",
    ),
}

Scalar: TypeAlias = str | int | float | bool | None


class Position(NamedTuple):
    """A place in the text; both count from 1, columns in characters."""

    line: int
    column: int


class Node(NamedTuple):
    """A value and where it stands, as offsets in characters; `end` is the first character after it."""

    start: int
    end: int
    value: Scalar | list[Node] | dict[str, Member]


class Member(NamedTuple):
    """A key's value and where the key stands."""

    key_start: int
    key_end: int
    node: Node


class Repeated(NamedTuple):
    """A key that occurs twice in one object."""

    key: str
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Fault:
    """Why bytes are not a JSON document."""

    position: Position
    what: str
    why: str
    remedy: str


@final
class Document:
    """A JSON text and its values.

    Attributes:
        has_mark: whether the file began with a byte order mark, which is not part of the text.
        repeated: keys that occur twice in one object; the last value counts.
    """

    def __init__(self, text: str, *, has_mark: bool) -> None:
        self.text = text
        self.has_mark = has_mark
        self.repeated: list[Repeated] = []
        self._line_starts = [0, *(match.end() for match in _LINE_BREAK.finditer(text))]
        self.root = _Walk(self).document()

    def position(self, offset: int) -> Position:
        """The place of an offset."""
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1)


def read(data: bytes) -> Document | Fault:
    """The document in these bytes, or why there is none."""
    if len(data) > MAX_BYTES:
        limit = MAX_BYTES // 1024**2
        return Fault(Position(0, 0), "the file is too large", f"the limit is {limit} MB", "split the plan")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _encoding_fault(data, error.start)
    try:
        return Document(text.removeprefix(_BOM), has_mark=text.startswith(_BOM))
    except _StopError as stop:
        return stop.fault


def _encoding_fault(data: bytes, offset: int) -> Fault:
    before = data[:offset].decode("utf-8").removeprefix(_BOM)
    position = Position(before.count("\n") + 1, len(before) - before.rfind("\n"))
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return Fault(position, "the file is UTF-16", "plan files are UTF-8", "save it as UTF-8")
    what = f"byte {offset} (0x{data[offset]:02x}) is not UTF-8"
    return Fault(position, what, "plan files are UTF-8", "save the file as UTF-8")


class _StopError(Exception):
    """Ends a walk at the first fault: after it, nothing is sure."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.what)
        self.fault = fault


class _ConstantError(ValueError):
    """A constant that other decoders accept and JSON does not know."""

    @override
    def __str__(self) -> str:
        return f"`{self.args[0]}` is not a JSON value"


def _refuse_constant(name: str) -> NoReturn:
    raise _ConstantError(name)


_DECODER: Final = JSONDecoder(parse_constant=_refuse_constant)


@final
class _Walk:
    """One pass over a document's text."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._text = document.text
        self._opened: list[int] = []

    def document(self) -> Node:
        start = self._skip(0)
        if start == len(self._text):
            self._stop(start, "the file is empty", "a plan is a JSON object", 'write {"tasks": [ … ]}')
        root = self._value(start)
        rest = self._skip(root.end)
        if rest < len(self._text):
            self._stop(rest, "text after the end of the JSON", "a file holds one JSON value", "remove it")
        return root

    def _value(self, start: int) -> Node:
        char = self._text[start : start + 1]
        if char in _CLOSING:
            return self._container(start, char)
        if not _SCALAR_START.match(char):
            self._unexpected(start, "a value")
        try:
            value, end = _DECODER.raw_decode(self._text, start)
        except JSONDecodeError as error:
            self._scalar_fault(error)
        except _ConstantError as error:
            self._stop(start, str(error), "JSON knows numbers, texts, true, false and null", "write null instead")
        except ValueError:
            self._stop(start, "a number with too many digits", "it cannot be read as a number", "write it as a text")
        return Node(start, end, value)

    def _container(self, start: int, char: str) -> Node:
        if len(self._opened) == MAX_DEPTH:
            self._stop(start, "nested too deeply", f"the limit is {MAX_DEPTH} levels", "flatten it")
        self._opened.append(start)
        members: dict[str, Member] = {}
        values: list[Node] = []
        closing = _CLOSING[char]
        end = self._skip(start + 1)
        while self._text[end : end + 1] != closing:
            if char == "{":
                node = self._member(end, members)
            else:
                node = self._value(end)
                values.append(node)
            end = self._comma(node.end, closing)
        self._opened.pop()
        return Node(start, end + 1, members if char == "{" else values)

    def _member(self, start: int, members: dict[str, Member]) -> Node:
        if self._text[start : start + 1] != '"':
            self._unexpected(start, "a key in double quotes or `}`")
        key = self._value(start)
        colon = self._skip(key.end)
        if self._text[colon : colon + 1] != ":":
            self._unexpected(colon, "`:`")
        node = self._value(self._skip(colon + 1))
        name = str(key.value)
        if name in members:
            self._document.repeated.append(Repeated(name, members[name].key_start, start))
        members[name] = Member(start, key.end, node)
        return node

    def _comma(self, end: int, closing: str) -> int:
        """Where the next entry or the closing bracket begins."""
        after = self._skip(end)
        char = self._text[after : after + 1]
        if char == closing:
            return after
        if char != ",":
            self._unexpected(after, f"`,` or `{closing}`")
        following = self._skip(after + 1)
        if self._text[following : following + 1] == closing:
            self._stop(after, "a comma too many", f"JSON allows none before `{closing}`", "remove it")
        return following

    def _skip(self, offset: int) -> int:
        if self._text[offset : offset + 1] > " ":
            return offset
        match = _SPACE.match(self._text, offset)
        return match.end() if match else offset

    def _scalar_fault(self, error: JSONDecodeError) -> NoReturn:
        for begin, (what, why, remedy) in _STRING_FAULTS.items():
            if error.msg.startswith(begin):
                self._stop(error.pos, what, why, remedy)
        self._unexpected(error.pos, "a value")

    def _unexpected(self, offset: int, wanted: str) -> NoReturn:
        if offset >= len(self._text) and self._opened:
            opened = self._opened[-1]
            line, column = self._document.position(opened)
            why = f"the {_NAMES[self._text[opened]]} that begins at line {line}, column {column} is not closed"
            self._stop(offset, "the file ends too early", why, "restore the rest of the file")
        char = self._text[offset]
        shown = char if char.isprintable() else f"U+{ord(char):04X}"
        default = (f"`{shown}` where {wanted} is expected", "this is not JSON", f"put {wanted} here")
        self._stop(offset, *_FOREIGN.get(char, default))

    def _stop(self, offset: int, what: str, why: str, remedy: str) -> NoReturn:
        raise _StopError(Fault(self._document.position(offset), what, why, remedy))
