"""The interview of `whilly prd --wizard`: one question at a time; what was answered is kept at once."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from whilly.domain.errors import ConfigError
from whilly.domain.prd.idea import MAX_CHARACTERS
from whilly.domain.prd.interview import QUESTIONS, Answers, accepts, find_next, tell_answers
from whilly.domain.text.clean import clean
from whilly.transport.files import Unreadable, read_file, write_file

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.domain.prd.interview import Question

NAME = "prd-wizard.json"
"""The file in Whilly's directory that keeps the answers."""


def interview(kept: Path, title: str = "") -> str:
    """Put the questions that are not answered yet; all answers as one text.

    Args:
        kept: the file of the answers; it stays until `forget`.
        title: the answer to the first question, if it is known; another interview's answers are not gone on with then.

    Raises:
        ConfigError: there is no terminal, or the answers cannot be kept.
        click.Abort: Ctrl-C or the input's end, the former also as KeyboardInterrupt; the same again goes on from there.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        message = "the wizard asks questions, and there is no terminal to ask them in"
        raise ConfigError(message, remedy='give the idea itself: whilly prd "a page of totals for accountants"')
    answers = _take_up(kept, title)
    if not answers:
        click.echo(f"{len(QUESTIONS)} questions. An empty line ends an answer, or leaves a question to the agent.")
    try:
        while question := find_next(answers):
            answers[question.key] = _ask(question)
            _keep(kept, answers)
    except (click.Abort, KeyboardInterrupt):
        click.echo(f"\nAnswers to {len(answers)} questions are kept: `whilly prd --wizard` goes on with the next.")
        raise
    return tell_answers(answers)


def forget(kept: Path) -> None:
    """The answers are not needed any more."""
    kept.unlink(missing_ok=True)


def _take_up(kept: Path, title: str) -> Answers:
    """What was answered last time, if that is to count."""
    answers = _load(kept)
    known: Answers = {"title": (clean(title).strip(),)} if title.strip() else {}
    if not answers or (known and answers.get("title") != known["title"]):
        return known
    told = f"Answers to {len(answers)} of {len(QUESTIONS)} questions are kept. Go on with them?"
    return answers if click.confirm(told, default=True) else known


def _ask(question: Question) -> tuple[str, ...]:
    number = QUESTIONS.index(question) + 1
    click.echo(f"\n{number}/{len(QUESTIONS)} {question.text}")
    while True:
        lines = _read_lines(question)
        if sum(map(len, lines)) > MAX_CHARACTERS // len(QUESTIONS):
            click.echo("That is too long; say it in fewer words.")
        elif not accepts(question, lines):
            click.echo("Nobody but you can answer this.")
        else:
            return lines


def _read_lines(question: Question) -> tuple[str, ...]:
    lines: list[str] = []
    while line := clean(click.prompt("", default="", show_default=False, prompt_suffix="> ")).strip():
        lines.append(line)
        if not question.has_lines:
            break
    return tuple(lines)


def _load(kept: Path) -> Answers:
    """The answers; none where the file is not as it was written."""
    try:
        found = json.loads(read_file(kept) or b"{}").get("answers", {})
        return {each.key: tuple(map(str, found[each.key])) for each in QUESTIONS if each.key in found}
    except (Unreadable, ValueError, TypeError, AttributeError):
        return {}


def _keep(kept: Path, answers: Answers) -> None:
    text = json.dumps({"version": 1, "answers": answers}, indent=2) + "\n"
    try:
        write_file(kept, text.encode("utf-8", "replace"))
    except OSError as error:
        message = f"{kept} cannot be written: {error.strerror}"
        raise ConfigError(message, remedy="look at the permissions and the free space of the disk") from error
