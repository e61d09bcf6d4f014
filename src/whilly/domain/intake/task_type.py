"""What kind of work an issue asks for, how sure that is, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


class TaskType(StrEnum):
    """The kinds of work that have a strategy of their own."""

    BUGFIX = "bugfix"
    FEATURE = "feature"
    REFACTOR = "refactor"
    DOCS = "docs"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Classified:
    """A kind of work.

    Attributes:
        confidence: from 0 (nothing says so) to 1.
        evidence: what it was read from, the strongest first.
    """

    task_type: TaskType
    confidence: float
    evidence: tuple[str, ...] = ()


_LABELS: Final = {
    TaskType.BUGFIX: "bug bugfix defect regression crash hotfix баг ошибка дефект",
    TaskType.FEATURE: "feature enhancement improvement story фича улучшение доработка",
    TaskType.REFACTOR: "refactor refactoring cleanup techdebt debt рефакторинг техдолг",
    TaskType.DOCS: "docs doc documentation документация",
}
_PREFIX = re.compile(r"\[?(?P<word>\w+)\]?(?:\([^)]*\))?!?(?::|(?<=\]))\s")
_PREFIXES: Final = {
    TaskType.BUGFIX: "fix bug bugfix hotfix regression баг ошибка исправление",
    TaskType.FEATURE: "feat feature enhancement фича",
    TaskType.REFACTOR: "refactor refactoring cleanup perf рефакторинг",
    TaskType.DOCS: "docs doc documentation документация",
}
_WORDS: Final = {
    TaskType.BUGFIX: re.compile(
        r"\b(?:bugs?|crash\w*|broken|regression|incorrect(?:ly)?|fails?|failing|wrong(?:ly)?|fix(?:es)?|traceback"
        r"|exception|doesn['’]t work|does not work|not working|should not|error when|off[- ]by[- ]one"
        r"|leaks?|hangs?|freez\w+|stuck|no longer"
        r"|(?:is|are) not (?:sent|shown|saved|updated|loaded|displayed|closed|found)"
        r"|не (?:приход|отправля|отобража|открыва|сохраня|загружа|обновля|показыва|запуска)\w*|завис\w+|вылета\w+"
        r"|баг\w*|ошибк\w*|падает|не работает|ломается|сломал\w*|исправ\w*|почин\w*|неправильн\w*|неверн\w*)\b"
    ),
    TaskType.FEATURE: re.compile(
        r"\b(?:add|adds|support(?: for)?|implement|introduce|allow|enable|feature"
        r"|new (?:option|command|flag|page|field)"
        r"|would be (?:nice|great)|ability to|as an? \w+,? i want"
        r"|добав\w*|реализ\w*|поддержк\w*|возможность|хотелось бы|нужна? (?:кнопка|страница|команда|опция))\b"
    ),
    TaskType.REFACTOR: re.compile(
        r"\b(?:refactor\w*|clean[- ]?up|rename|extract|simplify|dedup\w*|restructure"
        r"|split (?:the )?\w+ (?:module|class)"
        r"|technical debt|рефактор\w*|отрефактор\w*|переименова\w*|упрост\w*|вынести|разделить)\b"
    ),
    TaskType.DOCS: re.compile(
        r"\b(?:docs?|documentation|readme|changelog|docstrings?|typos?|tutorial|document the"
        r"|документ(?:ац\w*|ирова\w*)|описание в readme|опечатк\w*)\b"
    ),
}
_LABEL_SURE, _PREFIX_SURE, _STRUCTURE_SURE, _TITLE_SURE, _BODY_SURE = 0.95, 0.85, 0.8, 0.7, 0.4
_CONTRADICTED: Final = 0.5
_TRACEBACK = re.compile(
    r"^Traceback \(most recent call last\)|^panic: |^\s+at \S+\(.*:\d+\)|\bstack ?trace\b", re.MULTILINE
)


def classify(title: str, body: str, labels: Collection[str], kind: str = "", *, is_report: bool = False) -> Classified:
    """The kind of work, by the strongest thing that says it: labels, the title's prefix, the issue's form, its words.

    Args:
        title: cleaned.
        body: cleaned.
        labels: as in the tracker.
        kind: the tracker's own type.
        is_report: it has sections that only reports of faults have.
    """
    named = [(task_type, f"label `{label}`") for label in labels for task_type in _by_words(label, _LABELS)]
    named += [(task_type, f"type `{kind}` in the tracker") for task_type in _by_words(kind, _LABELS)]
    if named:
        return _settle(named, _LABEL_SURE)
    prefix = _PREFIX.match(title)
    if prefix and (found := _by_words(prefix["word"], _PREFIXES)):
        return Classified(found[0], _PREFIX_SURE, (f"the title begins with `{prefix[0].strip()}`",))
    if is_report or _TRACEBACK.search(body):
        why = "it tells how to reproduce it, or what is expected" if is_report else "it holds a traceback"
        return Classified(TaskType.BUGFIX, _STRUCTURE_SURE, (why,))
    in_title = list(_in_text(title, "the title"))
    return _settle(in_title, _TITLE_SURE) if in_title else _settle(list(_in_text(body, "the text")), _BODY_SURE)


def _by_words(text: str, table: dict[TaskType, str]) -> list[TaskType]:
    """The kinds that words of a label name: `kind/bug`, `type: feature`, `new feature`."""
    words = set(
        re.findall(r"[^\W_]+", text.casefold().replace("tech-debt", "techdebt").replace("tech debt", "techdebt"))
    )
    return [task_type for task_type, names in table.items() if words & set(names.split())]


def _in_text(text: str, where: str) -> Iterator[tuple[TaskType, str]]:
    for task_type, pattern in _WORDS.items():
        if found := pattern.search(text.casefold()):
            yield task_type, f"{where} says `{found[0]}`"


def _settle(found: list[tuple[TaskType, str]], sure: float) -> Classified:
    """One kind of those that were found; less sure when they contradict each other, none when only words do."""
    kinds = list(dict.fromkeys(task_type for task_type, _ in found))
    evidence = tuple(why for _, why in found)
    if not kinds:
        return Classified(TaskType.UNKNOWN, 0.0, ("nothing says what kind of work it is",))
    if len(kinds) == 1:
        return Classified(kinds[0], sure, evidence)
    if sure < _LABEL_SURE and {TaskType.BUGFIX, TaskType.FEATURE} <= set(kinds):
        return Classified(TaskType.UNKNOWN, 0.0, evidence)
    # "Bug" and "documentation" on one issue is a fault in the documentation; otherwise the order of the kinds counts.
    chosen = TaskType.DOCS if TaskType.DOCS in kinds else min(kinds, key=list(TaskType).index)
    return Classified(chosen, min(sure, _CONTRADICTED), evidence)
