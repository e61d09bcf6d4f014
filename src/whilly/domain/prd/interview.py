"""An interview about an idea: its questions, in their order, and what the answers say together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        key: under which its answer is kept.
        text: as people are asked.
        heading: above the answer, for whoever writes the description.
        is_required: nobody else can answer it.
        has_lines: an answer may have several lines.
    """

    key: str
    text: str
    heading: str
    is_required: bool = False
    has_lines: bool = True


QUESTIONS: Final = (
    Question("title", "What is it called? A few words.", "", is_required=True, has_lines=False),
    Question("context", "Which problem does it solve, and why now?", "The problem", is_required=True),
    Question("users", "Who uses it, and what do they need?", "Users"),
    Question("stories", "What do they want to do with it? One wish a line.", "Stories"),
    Question(
        "requirements",
        "What must be true when it is done? One thing a line, each so that it can be checked.",
        "What must be true when it is done",
        is_required=True,
    ),
    Question("non_goals", "What is not built?", "Not to be built"),
    Question("architecture", "What does it have to fit: language, libraries, interfaces?", "What it has to fit"),
    Question("phases", "What comes first, and what may come later?", "Order"),
    Question("metrics", "Which numbers will say whether it was worth it?", "Metrics"),
    Question("risks", "What may go wrong, and what is done about it?", "Risks"),
)
Answers = dict[str, tuple[str, ...]]
"""Lines by the question's key; a question that was passed over has none."""


def find_next(answers: Mapping[str, tuple[str, ...]]) -> Question | None:
    """The first question that was not put yet; None when there is none left."""
    return next((each for each in QUESTIONS if each.key not in answers), None)


def accepts(question: Question, lines: tuple[str, ...]) -> bool:
    """Whether this can be an answer: those that are required have to say something."""
    return not question.is_required or any(character.isalnum() for line in lines for character in line)


def tell_answers(answers: Mapping[str, tuple[str, ...]]) -> str:
    """All that was answered as one text, which begins with the title."""
    parts = []
    for question in QUESTIONS:
        lines = answers.get(question.key, ())
        if lines and question.heading:
            parts.append("\n".join([f"{question.heading}:", *(f"- {line}" for line in lines)]))
        elif lines:
            parts.append(" ".join(lines))
    return "\n\n".join(parts)
