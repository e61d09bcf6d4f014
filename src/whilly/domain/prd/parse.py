"""Reads a product description that a person or an agent wrote as Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from whilly.domain.claims import Refused, normalize
from whilly.domain.intake.outline import join, read_outline
from whilly.domain.intake.words import says_nothing
from whilly.domain.prd.document import Hazard, Phase, Prd, Requirement
from whilly.domain.text.clean import clean_foreign
from whilly.domain.work_item import Priority

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from whilly.domain.intake.outline import Section

_SECTIONS: Final = {
    "context": (
        "context|background|motivation|problem|context and motivation|контекст|мотивация|проблема|контекст и мотивация"
    ),
    "users": "users|audience|personas|пользователи|аудитория",
    "stories": "user stories|stories|пользовательские истории|истории",
    "requirements": "requirements|functional requirements|требования|функциональные требования",
    "non_goals": "non-goals|non goals|out of scope|вне рамок|не цели|что не делаем",
    "architecture": "architecture|design|архитектура",
    "phases": "phases|timeline|milestones|этапы|фазы",
    "metrics": "metrics|success metrics|success criteria|метрики|метрики успеха",
    "risks": "risks|risks and mitigations|риски|риски и меры",
}
_KNOWN: Final = {name: key for key, names in _SECTIONS.items() for name in names.split("|")}
_REQUIREMENT = re.compile(r"(?P<id>[A-Za-z]{1,6}[-.]?\d+(?:\.\d+)*)\s*[:.—–-]?\s+(?P<title>\S.*)")
_EFFORT = re.compile(r"(?P<goal>.*\S)\s+\((?P<effort>[^()]+)\)")
_NAMED_PHASE = re.compile(r"(?:phase|фаза|этап)\s+(?P<number>\d{1,3})\s*[.):—–-]\s*(?P<goal>\S.*)", re.IGNORECASE)
_ARROW = re.compile(r"\s+(?:→|->|=>)\s*")
_BORDER = re.compile(r"^[\W\d_]+|[\W_]+$")
MAX_CHARACTERS: Final = 400_000


def parse_prd(markdown: str) -> Prd:
    """The description in a Markdown text; what it does not say stays empty, for `find_faults` to tell.

    Sections are known by their titles, requirements by an id at the beginning of theirs (`### F1.2: Totals`); they have
    `**Phase:**`, `**Priority:**`, `**Files:**`, `**Depends:**`, criteria as a list and commands as a block of code.
    """
    sections = read_outline(clean_foreign(markdown, MAX_CHARACTERS, MAX_CHARACTERS).text)
    parts: dict[str, list[Section]] = {}
    requirements: list[Requirement] = []
    title, current = "", ""
    for section in sections:
        known = _KNOWN.get(_BORDER.sub("", section.title.casefold().replace("ё", "е")))
        found = _REQUIREMENT.fullmatch(section.title)
        if known:
            current = known
        elif found and current == "requirements":
            requirements.append(_read_requirement(found, section))
            continue
        elif section.level == 1:
            title, current = title or section.title, ""
        if current:
            parts.setdefault(current, []).append(section)
    texts = {key: _texts(found) for key, found in parts.items()}
    return Prd(
        title=title,
        context=_prose(parts.get("context", [])),
        users=texts.get("users", ()),
        stories=texts.get("stories", ()),
        requirements=tuple(requirements),
        non_goals=texts.get("non_goals", ()),
        architecture=_prose(parts.get("architecture", [])),
        phases=tuple(_read_phases(parts.get("phases", []))),
        metrics=texts.get("metrics", ()),
        risks=tuple(_read_risk(text) for text in texts.get("risks", ())),
    )


def _read_requirement(found: re.Match[str], section: Section) -> Requirement:
    named = {name.casefold().replace("ё", "е"): value for name, value in section.named}

    def say(*names: str) -> str:
        return next((named[name] for name in names if name in named), "")

    phase = re.search(r"\d+", say("phase", "фаза", "этап"))
    level = say("priority", "приоритет").strip().casefold()
    files = (path.strip(" `") for path in re.split(r"[,;]", say("files", "файлы")))
    return Requirement(
        id=found["id"],
        title=found["title"].strip(),
        criteria=tuple(entry.text for entry in section.entries),
        text=section.prose,
        phase=int(phase[0][:4]) if phase else 1,
        priority=Priority(level) if level in Priority.__members__.values() else Priority.MEDIUM,
        key_files=tuple(dict.fromkeys(_settle(path) for path in files if not says_nothing(path))),
        test_steps=tuple(dict.fromkeys(line.strip() for line in section.code if line.strip())),
        depends=tuple(dict.fromkeys(re.findall(r"[A-Za-z]{1,6}[-.]?\d+(?:\.\d+)*", say("depends", "зависит от")))),
    )


def _settle(path: str) -> str:
    """The path's one spelling; one that cannot be a claim stays as it is, to be told."""
    match normalize(path):
        case Refused():
            return path
        case claim:
            return claim


def _texts(sections: Iterable[Section]) -> tuple[str, ...]:
    whole = join(sections)
    lines = [entry.text for entry in whole.entries] or [line.strip() for line in whole.text]
    return tuple(each for each in lines if not says_nothing(each))


def _prose(sections: list[Section]) -> str:
    """The text with its lists and its code."""
    parts: list[str] = []
    for number, each in enumerate(sections):
        parts += [f"### {each.title}"] if number else []
        parts += [each.prose] if each.prose else []
        parts += [f"**{name}:** {value}" for name, value in each.named]
        parts += ["\n".join(f"- {entry.text}" for entry in each.entries)] if each.entries else []
        parts += ["\n".join(["```", *each.code, "```"])] if each.code else []
    text = "\n\n".join(parts).strip()
    return "" if says_nothing(text) else text


def _read_phases(sections: list[Section]) -> Iterator[Phase]:
    """The numbered entries; `Phase 2: …` is one as well."""
    for entry in join(sections).entries:
        told = _NAMED_PHASE.fullmatch(entry.text)
        number = int(told["number"]) if told else entry.number
        if number is not None:
            text = told["goal"] if told else entry.text
            effort = _EFFORT.fullmatch(text)
            yield Phase(number, effort["goal"] if effort else text, effort["effort"].strip() if effort else "")


def _read_risk(text: str) -> Hazard:
    risk, *mitigation = _ARROW.split(text, maxsplit=1)
    return Hazard(risk.strip(), mitigation[0].strip() if mitigation else "")
