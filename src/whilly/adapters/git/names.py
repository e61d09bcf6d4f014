"""Names that git and the file system accept, made from names that people gave."""

from __future__ import annotations

import hashlib
import re
import unicodedata

MAX_BRANCH = 80
_MAX_PART = 80
_SAFE_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*")
_ODD = re.compile(r"[^A-Za-z0-9._-]+")
_CYRILLIC = dict(
    zip(
        "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
        "a b v g d e e zh z i y k l m n o p r s t u f kh ts ch sh shch _ y _ e yu ya".replace("_", "").split(" "),
        strict=True,
    ),
)


def transliterate(text: str) -> str:
    """The text in ASCII, as far as its letters have a counterpart; other characters are dropped."""
    latin = "".join(_CYRILLIC.get(letter, letter) if letter.islower() else _upper(letter) for letter in text)
    return unicodedata.normalize("NFKD", latin).encode("ascii", "ignore").decode()


def safe_branch(wanted: str) -> str:
    """A branch name that git accepts, made of `[A-Za-z0-9._-]` and `/`, at most 80 characters.

    The rules are those of git-check-ref-format(1); a name that had to be changed keeps its meaning, not its spelling.
    """
    parts = [_tame(part) for part in transliterate(wanted).split("/")]
    name = "/".join(part for part in parts if part)[:MAX_BRANCH]
    name = re.sub(r"(\.lock|[./-])+(?=/|$)", "", name)
    return name if name and name.upper() != "HEAD" else f"work-{_digest(wanted)}"


def safe_part(text: str) -> str:
    """One component of a ref and of a path; different texts give different components, also without regard to case."""
    if _SAFE_PART.fullmatch(text) and len(text) <= _MAX_PART and not text.endswith(".lock") and text == text.lower():
        return text
    stem = _tame(transliterate(text)).lower()[:40].rstrip(".-")
    return f"{stem or 'x'}-{_digest(text)}"


def _tame(part: str) -> str:
    return re.sub(r"\.{2,}", ".", _ODD.sub("-", part)).strip(".-")


def _upper(letter: str) -> str:
    return _CYRILLIC.get(letter.lower(), letter).capitalize() if letter.lower() in _CYRILLIC else letter


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
