"""Names that git and the file system accept, made from names that people gave."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from anyascii import anyascii

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BRANCH = 80
_MAX_PART = 80
_SAFE_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*")
_ODD = re.compile(r"[^A-Za-z0-9._-]+")


def safe_branch(wanted: str) -> str:
    """A branch name that git accepts, made of `[A-Za-z0-9._-]` and `/`, at most 80 characters.

    The rules are those of git-check-ref-format(1); a name that had to be changed keeps its meaning, not its spelling.
    """
    parts = [_tame(part) for part in anyascii(wanted).split("/")]
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
    stem = _tame(anyascii(text)).lower()[:40].rstrip(".-")
    return f"{stem or 'x'}-{_digest(text)}"


def _tame(part: str) -> str:
    return re.sub(r"\.{2,}", ".", _ODD.sub("-", part)).strip(".-")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
