# ruff: noqa: RUF001  (the table is one of Cyrillic letters)
"""Names that git and the file system accept, made from names that people gave."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BRANCH = 80
_MAX_PART = 80
_SAFE_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*")
_ODD = re.compile(r"[^A-Za-z0-9._-]+")
_CYRILLIC = {
    "а": "a", "б": "b", "в": "v", "г": "g", "д": "d", "е": "e", "ё": "e", "ж": "zh", "з": "z", "и": "i", "й": "i",
    "к": "k", "л": "l", "м": "m", "н": "n", "о": "o", "п": "p", "р": "r", "с": "s", "т": "t", "у": "u", "ф": "f",
    "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ъ": "", "ы": "y", "ь": "", "э": "e", "ю": "yu", "я": "ya",
}  # fmt: skip


def transliterate(text: str) -> str:
    """The text in ASCII, as far as its letters have a counterpart; other characters are dropped."""
    table = {**_CYRILLIC, **{letter.upper(): latin.capitalize() for letter, latin in _CYRILLIC.items()}}
    latin = "".join(table.get(letter, letter) for letter in text)
    return unicodedata.normalize("NFKD", latin).encode("ascii", "ignore").decode()


def safe_branch(wanted: str) -> str:
    """A branch name that git accepts, made of `[A-Za-z0-9._-]` and `/`, at most 80 characters.

    The rules are those of git-check-ref-format(1); a name that had to be changed keeps its meaning, not its spelling.
    """
    parts = [_tame(part) for part in transliterate(wanted).split("/")]
    name = "/".join(part for part in parts if part)[:MAX_BRANCH]
    name = re.sub(r"(\.lock|[./-])+(?=/|$)", "", name)
    return name if name and name.upper() != "HEAD" else f"work-{_digest(wanted)}"


def alternatives(name: str, run: str) -> Iterator[str]:
    """Names to try in turn where `name` is taken: numbered, then without the directory part, which may be taken too."""
    for stem in (name, name.replace("/", "-")):
        yield stem[:MAX_BRANCH]
        yield from (f"{stem[: MAX_BRANCH - 4]}-{number}" for number in range(2, 10))
    yield f"{name[: MAX_BRANCH - 12]}-{_digest(run)}"


def safe_part(text: str) -> str:
    """One component of a ref and of a path; different texts give different components, also without regard to case."""
    if _SAFE_PART.fullmatch(text) and len(text) <= _MAX_PART and not text.endswith(".lock") and text == text.lower():
        return text
    stem = _tame(transliterate(text)).lower()[:40].rstrip(".-")
    return f"{stem or 'x'}-{_digest(text)}"


def _tame(part: str) -> str:
    return re.sub(r"\.{2,}", ".", _ODD.sub("-", part)).strip(".-")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
