"""Errors for people: what is wrong, why, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whilly.cli.translate import Refused
    from whilly.domain.errors import WhillyError


def render_error(error: WhillyError) -> str:
    """One message: what is wrong and why, and on a line of its own what to do."""
    remedy = f"\n  → {printable(error.remedy)}" if error.remedy else ""
    return f"whilly: {printable(error.message)}{remedy}"


def render_refusal(refused: Refused) -> str:
    """The same for a command line of the predecessor that has no meaning any more."""
    return f"{refused.message}.\n  → {refused.remedy}"


def render_surprise(error: Exception) -> str:
    """The same for an error that nobody foresaw."""
    message = f"whilly: internal error: {type(error).__name__}: {printable(str(error))}"
    return f"{message}\n  → run it again with `whilly --debug …` and report what it shows"


def printable(text: str) -> str:
    """The text with control characters written out, so that a file's name cannot steer a terminal."""
    return "".join(
        character if character in "\n\t" or character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )
