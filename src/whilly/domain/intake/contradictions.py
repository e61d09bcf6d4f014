"""Statements of one issue that exclude each other, found by their form: same words, opposite meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from whilly.domain.intake.spec import IssueSpec

MAX_STATEMENTS: Final = 200
MAX_LENGTH: Final = 300
MAX_FOUND: Final = 5
"""Pairs that are told; more of them say nothing new."""

_EMPTY_WORDS: Final = (
    "the a an is are be been must should shall will would to of it its that this and do does have has can may "
    "в на и с по для должен должна должно должны быть это то что бы ли"
)
_DENIALS: Final = (
    "not no never without cannot isn't doesn't don't mustn't shouldn't won't can't нельзя не нет никогда без "
    "nicht kein keine ne pas"
)
_EMPTY: Final = frozenset(_EMPTY_WORDS.split())
_NO: Final = frozenset(_DENIALS.split())
_OPPOSITES: Final = (
    ("always", "never"),
    ("enabled enable on", "disabled disable off"),
    ("required mandatory", "optional"),
    ("ascending", "descending"),
    ("include included", "exclude excluded"),
    ("show shown visible", "hide hidden invisible"),
    ("public", "private"),
    ("synchronous synchronously", "asynchronous asynchronously"),
    ("allow allowed", "forbid forbidden"),
    ("keep kept", "remove removed delete deleted"),
    ("всегда", "никогда"),
    ("включен включена включено включить", "выключен выключена выключено выключить"),
    ("обязательно обязательный обязательна", "необязательно необязательный необязательна"),
    ("показывать показан видно", "скрывать скрыт скрыто"),
    ("оставить", "удалить"),
    ("разрешено", "запрещено"),
)
"""Words of one meaning, and those of the opposite one."""
_SIDES: Final = {
    word: (number, side)
    for number, pair in enumerate(_OPPOSITES)
    for side, words in enumerate(pair)
    for word in words.split()
}
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")
_SENTENCE = re.compile(r"(?<=[.!;])\s+|\n+")
_BOUND = re.compile(
    r"(?P<most>at most|no more than|under|below|less than|up to|<=?|≤|не более|не больше|менее|меньше|до)"
    r"\s*(?P<top>\d+)"
    r"|(?P<least>at least|no less than|over|above|more than|>=?|≥|не менее|не меньше|более|больше|от)"
    r"\s*(?P<bottom>\d+)"
    r"|(?P<just>exactly|equals?|=|is|be|are|ровно|равен|равна|равно)\s*(?P<value>\d+)\b"
)


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement taken apart.

    Attributes:
        core: the words that count.
        sides: for each pair of opposites that it names, which of the two.
        limit: what is limited, and the least and the greatest that it may be; None without exactly one limit.
    """

    text: str
    core: frozenset[str]
    is_denied: bool
    sides: dict[int, int]
    limit: tuple[frozenset[str], float, float] | None


def find_contradictions(spec: IssueSpec) -> Iterator[tuple[str, str]]:
    """Pairs of statements that cannot both hold; what is ticked is left out.

    Found are a statement and its denial, a statement and the same with an opposite word, limits that leave no room, and
    files that are both wanted and excluded.
    """
    criteria = [each.text for each in spec.criteria if not each.is_done]
    told = [sentence for part in (spec.problem, spec.expected) if part for sentence in _SENTENCE.split(part)]
    yield from find_opposites([*criteria, *told])
    for path in spec.key_files:
        for each in spec.excluded:
            if re.search(rf"(?<![\w./-]){re.escape(path)}(?![\w/-])", each):
                yield f"Files: {path}", f"not part of it: {each[:MAX_LENGTH]}"
    if {f"#{spec.key}", spec.key} & set(spec.dependencies):
        yield "it depends on itself", "it has to be done first"


def find_opposites(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of these statements that cannot both hold; very long ones are no statements."""
    plain = dict.fromkeys(each.strip(" -*\t") for each in texts)
    statements = [_read(text) for text in plain if 0 < len(text) <= MAX_LENGTH][:MAX_STATEMENTS]
    pairs = combinations(statements, 2)
    found = (pair for pair in pairs if _deny(*pair) or _leave_no_room(*pair))
    yield from ((first.text, second.text) for first, second in islice(found, MAX_FOUND))


def _deny(first: _Statement, second: _Statement) -> bool:
    """Whether both say the same but for a denial or an opposite."""
    if first.core != second.core or first.sides.keys() != second.sides.keys():
        return False
    if not first.sides and len(first.core) < 2:  # noqa: PLR2004  (one word is a heading)
        return False
    flipped = sum(first.sides[each] != second.sides[each] for each in first.sides)
    return (flipped + (first.is_denied != second.is_denied)) % 2 == 1


def _leave_no_room(first: _Statement, second: _Statement) -> bool:
    """Whether two limits on the same thing exclude each other: at most 5 and at least 10; is 5 and is 10."""
    if first.limit is None or second.limit is None or first.limit[0] != second.limit[0]:
        return False
    return max(first.limit[1], second.limit[1]) > min(first.limit[2], second.limit[2])


@lru_cache(maxsize=4_096)
def _read(text: str) -> _Statement:
    plain = text.casefold()
    core, is_denied, sides = _take_apart(plain)
    found = list(_BOUND.finditer(plain))
    subject = _take_apart(_BOUND.sub(" ", plain))[0]
    limit = (subject, *_interval(found[0])) if len(found) == 1 and subject else None
    return _Statement(text, core, is_denied, sides, limit)


def _take_apart(statement: str) -> tuple[frozenset[str], bool, dict[int, int]]:
    """The words that count, whether they are denied, and which of two opposites is named."""
    words = [word.replace("’", "'") for word in _WORD.findall(statement.replace("ё", "е"))]
    sides = dict(_SIDES[word] for word in words if word in _SIDES)
    core = frozenset(word for word in words if word not in _EMPTY and word not in _NO and word not in _SIDES)
    denials = sum(word in _NO and word not in _SIDES for word in words)
    return core, denials % 2 == 1, sides


def _interval(found: re.Match[str]) -> tuple[float, float]:
    if found["top"]:
        return float("-inf"), float(found["top"])
    if found["bottom"]:
        return float(found["bottom"]), float("inf")
    return float(found["value"]), float(found["value"])
