"""An idea, before anybody has described it: its words, and the names of the files that come of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from whilly.domain.errors import RuleViolation
from whilly.domain.prd.document import SLUG_LENGTH
from whilly.domain.text.clean import clean
from whilly.domain.text.names import slugify

MAX_CHARACTERS: Final = 60_000


@dataclass(frozen=True, slots=True)
class Idea:
    """What somebody wants to have described.

    Attributes:
        text: their words.
        slug: for the names of files: lower-case ASCII words joined by `-`.
    """

    text: str
    slug: str

    @property
    def document(self) -> str:
        """Where its description is kept, relative to the repository."""
        return f"docs/PRD-{self.slug}.md"

    @property
    def plan(self) -> str:
        """Where the plan made of that is kept, relative to the repository."""
        return name_plan(self.slug)


def name_plan(slug: str) -> str:
    """Where a plan of this slug is kept, relative to the repository."""
    return f".planning/{slug}_tasks.json"


def take_idea(text: str) -> Idea:
    """The idea in these words; its slug is the beginning of their first line, whole words where possible.

    Raises:
        RuleViolation: they say nothing, or go on for too long.
    """
    told = clean(text).strip()
    if not any(character.isalnum() for character in told):
        message = "the idea is empty"
        raise RuleViolation(message, remedy='say in a sentence what is to be built: whilly prd "a page of totals"')
    if len(told) > MAX_CHARACTERS:
        message = f"the idea has {len(told):,} characters, and at most {MAX_CHARACTERS:,} are read"
        raise RuleViolation(message, remedy="say the same in fewer words; details belong into the document")
    return Idea(told, _name(told.splitlines()[0]))


def _name(line: str) -> str:
    # Anything beyond is cut anyway, and transliterating takes time.
    whole = slugify(line[:500], 8_000)
    slug = whole[:SLUG_LENGTH].rstrip("-")
    if len(whole) > len(slug) and whole[len(slug)] != "-":
        slug = slug.rpartition("-")[0] or slug
    return slug or "idea"
