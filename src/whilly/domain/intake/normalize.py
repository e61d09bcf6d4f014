"""Reads an issue into a spec: the grammar of `**Files:**`, `**Depends:**`, `## Acceptance`, `## Test`, in any language.

Headings and named lines are known by `words`; lists may be bulleted, numbered or ticked. What is not understood
stays in `problem`, as text; nothing is made up.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from whilly.domain.claims import Refused, normalize
from whilly.domain.intake.outline import Entry, Section, join, read_outline
from whilly.domain.intake.spec import Criterion, IssueSpec, Shown
from whilly.domain.intake.task_type import classify
from whilly.domain.intake.words import Part, find_part, says_nothing
from whilly.domain.redaction import Redactor
from whilly.domain.text.clean import HIDDEN, clean, clean_foreign
from whilly.domain.text.prose import is_prose
from whilly.domain.work_item import Priority

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from whilly.domain.intake.issue_text import IssueText

MAX_TITLE: Final = 300
MAX_ENTRY: Final = 1_000
MAX_ENTRIES: Final = 100
"""Of each list; an issue with more is no single piece of work."""

_OWN_WORDS: Final = {
    word: level
    for level, words in {
        Priority.CRITICAL: "critical highest blocker urgent",
        Priority.HIGH: "high major",
        Priority.MEDIUM: "medium normal",
        Priority.LOW: "low lowest minor trivial",
    }.items()
    for word in words.split()
}
_COMMENT_LIMITS: Final = (8_000, 300)
_REDACTOR: Final = Redactor(())
_PRIORITY = re.compile(r"priority\s*[:/-]\s*(?P<level>\w+)", re.IGNORECASE)
_DEPENDENCY = re.compile(r"(?:[\w.-]{1,100}(?:/[\w.-]{1,100}){1,8})?#\d+|[A-Z][A-Z0-9_]*-\d+|https?://[^\s,;)]+")
_REPORTING: Final = frozenset({Part.REPRODUCE, Part.EXPECTED, Part.ACTUAL})
_PROMPT = re.compile(r"^\$\s+(?=\S)")


def normalize_issue(issue: IssueText) -> IssueSpec:
    """What the issue wants; the same text gives the same spec."""
    title = _mask(" ".join(clean(issue.title).split())[:MAX_TITLE])
    body = clean_foreign(issue.body)
    text = _mask(body.text)
    heard = [each for each in issue.comments if each.is_shown]
    comments = tuple(Shown(each.author, _mask(clean_foreign(each.text, *_COMMENT_LIMITS).text)) for each in heard)
    sections = read_outline(text, find_part)
    parts = _find_parts(sections)
    tests = [_read_tests(parts.get(Part.TEST, []), are_trusted=issue.is_trusted)]
    for remark, comment in zip(heard, comments, strict=True):
        # An answer may bring the section that was asked for.
        answered = _find_parts(read_outline(comment.text, find_part))
        tests.append(_read_tests(answered.get(Part.TEST, []), are_trusted=remark.has_write))
        for part, added in answered.items():
            parts.setdefault(part, []).extend(added)
    claims, refused = _read_files(parts.get(Part.FILES, []))
    labels = tuple(clean(label) for label in issue.labels)
    kind = classify(title, text, labels, clean(issue.kind), is_report=bool(_REPORTING & parts.keys()))
    rest = [kept for part, section in _assign(sections) for kept in _keep(part, section)]
    problem = _render(rest)
    boxes = [entry for section in rest for entry in section.entries if entry.is_done is not None]
    masked = ["what looks like a secret was masked; whoever wrote it should replace it"] if text != body.text else []
    return IssueSpec(
        key=issue.key,
        title=title,
        url=issue.url,
        labels=labels,
        task_type=kind.task_type,
        confidence=kind.confidence,
        evidence=kind.evidence,
        problem=problem if problem.replace(HIDDEN, "").strip() else None,
        reproduction=_text_of(parts, Part.REPRODUCE),
        expected=_text_of(parts, Part.EXPECTED),
        actual=_text_of(parts, Part.ACTUAL),
        criteria=_read_criteria(parts.get(Part.ACCEPTANCE, [])),
        checklist=_as_criteria(boxes),
        test_steps=_distinct(command for commands, _ in tests for command in commands),
        manual_checks=_distinct(check for _, manual in tests for check in manual),
        key_files=claims,
        dependencies=_read_dependencies(parts.get(Part.DEPENDS, [])),
        priority=_read_priority(labels, clean(issue.priority)),
        strategy=_text_of(parts, Part.STRATEGY),
        excluded=tuple(_lines(parts.get(Part.OUT_OF_SCOPE, []))),
        comments=comments,
        withheld=sum(not each.is_shown and not each.is_own for each in issue.comments),
        notes=(*body.notes, *masked, *refused),
    )


def _mask(text: str) -> str:
    """The text without what looks like a token of a well-known service: agents do not need it."""
    return _REDACTOR.clean(text)


def _assign(sections: list[Section]) -> Iterator[tuple[Part | None, Section]]:
    """The sections, each with the part that it belongs to: its own, or that of a heading above it."""
    part: Part | None = None
    level = 0
    for section in sections:
        if own := find_part(section.title):
            part, level = own, section.level
        elif section.level <= level:
            part = None
        yield part, section


def _find_parts(sections: list[Section]) -> dict[Part, list[Section]]:
    """By part, the sections that are it; a named line counts as a section of one line."""
    parts: dict[Part, list[Section]] = {}
    for part, section in _assign(sections):
        if part:
            parts.setdefault(part, []).append(section)
        for name, value in section.named:
            if named := find_part(name):
                parts.setdefault(named, []).append(Section(name, 0, text=[value]))
    return parts


def _keep(part: Part | None, section: Section) -> list[Section]:
    """What of a section is told as text: all of one that is no part, and what stands beside a list of criteria."""
    if part is None:
        return [section]
    is_beside = part is Part.ACCEPTANCE and section.entries and section.prose
    return [Section("", 0, text=section.text)] if is_beside else []


def _render(sections: Iterable[Section]) -> str:
    """Sections as text; lists and code stay recognisable."""
    parts: list[str] = []
    for section in sections:
        lines = [section.title] if section.title else []
        lines += [section.prose] if section.prose else []
        lines += [f"{name}: {value}" for name, value in section.named if find_part(name) is None]
        lines += [f"- {entry.text}" for entry in section.entries]
        lines += ["```", *section.code, "```"] if section.code else []
        parts += ["\n".join(lines)] if lines and lines != [section.title] else []
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(parts)).strip()


def _text_of(parts: dict[Part, list[Section]], part: Part) -> str | None:
    text = _render([join(parts.get(part, []))])
    return None if says_nothing(text) else text


def _lines(sections: Iterable[Section]) -> list[str]:
    """Entries, or where there are none the paragraphs; without those that only say that there is nothing."""
    found: list[str] = []
    for section in sections:
        entries = [entry.text for entry in section.entries]
        paragraphs = [" ".join(each.split()) for each in re.split(r"\n\s*\n", section.prose)]
        found += entries or [each for each in paragraphs if each]
    return [each for each in dict.fromkeys(found) if not says_nothing(each)][:MAX_ENTRIES]


def _read_criteria(sections: list[Section]) -> tuple[Criterion, ...]:
    entries = [entry for section in sections for entry in section.entries]
    return _as_criteria(entries) if entries else tuple(Criterion(text[:MAX_ENTRY]) for text in _lines(sections))


def _as_criteria(entries: Iterable[Entry]) -> tuple[Criterion, ...]:
    kept = [each for each in entries if not says_nothing(each.text)]
    return tuple(Criterion(each.text[:MAX_ENTRY], bool(each.is_done)) for each in kept)[:MAX_ENTRIES]


def _read_tests(sections: list[Section], *, are_trusted: bool) -> tuple[list[str], list[str]]:
    """Commands that are run, and what is only looked at: what no shell can do, and what strangers want to be run."""
    code = [_PROMPT.sub("", line.strip()) for section in sections for line in section.code]
    commands = [line for line in code if line and not line.startswith("#")]
    manual: list[str] = []
    for line in _lines(sections):
        bare = line.strip("`").strip()
        is_code = line.startswith("`") and line.endswith("`") and "`" not in bare
        (commands if is_code or not is_prose(bare) else manual).append(bare if is_code else line)
    if not are_trusted:
        return [], [*(f"`{command}` passes" for command in commands), *manual]
    return commands, manual


def _distinct(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))[:MAX_ENTRIES]


def _read_files(sections: list[Section]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Claims, and what is said of paths that cannot be any."""
    claims: dict[str, None] = {}
    refused: list[str] = []
    for text in _separate(sections):
        match normalize(text):
            case Refused(reason="is empty"):
                pass
            case Refused(reason=reason):
                refused.append(f"the path `{text[:80]}` {reason}; it is left out")
            case claim:
                claims[claim] = None
    return tuple(claims)[:MAX_ENTRIES], tuple(refused)


def _separate(sections: list[Section]) -> Iterator[str]:
    for section in sections:
        for line in (*(entry.text for entry in section.entries), *section.code, *section.text):
            for piece in re.split(r"[,;]", line):
                # Behind a path there may be a remark: `src/a.py` (the totals).
                words = piece.strip()[:MAX_ENTRY]
                quoted = re.search(r"`([^`]+)`", words)
                path = quoted[1] if quoted else re.sub(r"\s+(?:\(|—|–|-\s).*", "", words)
                if not says_nothing(path):
                    yield path.strip()


def _read_dependencies(sections: list[Section]) -> tuple[str, ...]:
    lines = [line for each in sections for line in (*(entry.text for entry in each.entries), *each.text)]
    return tuple(dict.fromkeys(name for line in lines for name in _DEPENDENCY.findall(line)))[:MAX_ENTRIES]


def _read_priority(labels: Collection[str], own: str) -> Priority | None:
    """The most urgent of those that labels name; without any, what the tracker's own word means."""
    levels = [found["level"].casefold() for label in labels if (found := _PRIORITY.fullmatch(label.strip()))]
    named = [Priority(level) for level in levels if level in Priority.__members__.values()]
    return min(named, key=lambda priority: priority.rank, default=_OWN_WORDS.get(own.strip().casefold()))
