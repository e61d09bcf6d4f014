"""What people want more of, by their words, and which of these wishes work against each other; data."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple


class Aspect(StrEnum):
    """A property that work may want to improve or keep."""

    SPEED = "speed"
    FRUGALITY = "frugality"
    FRESHNESS = "freshness"
    SAFETY = "safety"
    CONVENIENCE = "convenience"
    SIMPLICITY = "simplicity"
    FLEXIBILITY = "flexibility"
    COMPATIBILITY = "compatibility"
    RENEWAL = "renewal"
    PRIVACY = "privacy"
    TRACEABILITY = "traceability"
    AUTONOMY = "autonomy"
    CONTROL = "control"
    THOROUGHNESS = "thoroughness"


_WORDS: Final = {
    Aspect.SPEED: (
        r"faster|speed(?: |-)?up|low(?:er)? latency|within \d+ ?(?:ms|milliseconds|s"
        r"|seconds)|under \d+ ?ms|real[- ]time"
        r"|cach(?:e|ed|ing)|быстрее|ускор\w*|кэш\w*"
    ),
    Aspect.FRUGALITY: (
        r"less memory|low memory|without (?:more|extra) memory|no (?:more|extra) memory|fewer requests|cheap(?:er)?"
        r"|at most \d+ ?(?:[kmg]i?b)|no new dependenc\w+|without (?:a )?new dependenc\w+|меньше памяти|дешевле"
        r"|без новых зависимостей"
    ),
    Aspect.FRESHNESS: (
        r"always (?:fresh|current|up[- ]to[- ]date|consistent)|never stale"
        r"|strong(?:ly)? consisten\w+|immediately visible"
        r"|up[- ]to[- ]date|всегда (?:свеж|актуальн)\w*|актуальн\w* данн\w*"
    ),
    Aspect.SAFETY: (
        r"secure|security|authenticat\w+|two[- ]factor|2fa|permission check|sandbox\w*"
        r"|encrypt\w*|безопасн\w*|двухфакторн\w*"
    ),
    Aspect.CONVENIENCE: (
        r"one click|without (?:a )?(?:login|password|confirmation)|no confirmation"
        r"|frictionless|stay logged in|anonymous"
        r"|в один клик|без (?:пароля|входа|подтверждения)"
    ),
    Aspect.SIMPLICITY: (
        r"keep it simple|stays? simple|minimal|no (?:new )?settings|one file only"
        r"|просто\w* реш\w*|минимальн\w*"
    ),
    Aspect.FLEXIBILITY: (
        r"configurable|pluggable|plug-?ins?|generic|extensible|any (?:database|provider|format)|настраива\w*|плагин\w*"
        r"|расширяем\w*"
    ),
    Aspect.COMPATIBILITY: (
        r"backwards?[- ]compatib\w+|without breaking|no breaking change|old (?:clients|files|versions) (?:still )?work"
        r"|обратн\w* совместим\w*|не ломая"
    ),
    Aspect.RENEWAL: (
        r"rewrite|replace the (?:api|format|schema)|remove the old|drop support"
        r"|rename the (?:api|field|column|endpoint)"
        r"|new (?:file )?format|переписать|удалить стар\w*|убрать поддержку"
    ),
    Aspect.PRIVACY: r"privacy|gdpr|personal data|anonymi[sz]\w*|no tracking|персональн\w* данн\w*|анонимн\w*",
    Aspect.TRACEABILITY: (
        r"log (?:every|all|each)|audit (?:log|trail)|track(?:ing)? (?:every|all|each)"
        r"|логировать вс\w+|аудит"
    ),
    Aspect.AUTONOMY: r"automatic(?:ally)?|without (?:a )?(?:person|review|approval)|auto-?merge|автоматически",
    Aspect.CONTROL: (
        r"approval|must be (?:approved|confirmed)|manual review|ask before"
        r"|с подтверждением|ручн\w* провер\w*"
    ),
    Aspect.THOROUGHNESS: r"every combination|exhaustive\w*|100 ?% coverage|all edge cases|все (?:случаи|комбинации)",
}
PATTERNS: Final = {
    aspect: re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE) for aspect, words in _WORDS.items()
}


class Clash(NamedTuple):
    """Two wishes that work against each other.

    Attributes:
        principles: those that help with it, the most promising first.
        resolution: how they are used here.
    """

    improves: Aspect
    worsens: Aspect
    principles: tuple[int, ...]
    resolution: str


CLASHES: Final = (
    Clash(
        Aspect.SPEED,
        Aspect.FRESHNESS,
        (24, 23, 10, 3),
        "invalidate by events, or say for which readers how old is fine",
    ),
    Clash(
        Aspect.SPEED,
        Aspect.FRUGALITY,
        (35, 16, 5, 19),
        "bound what is kept, batch what is asked, measure before and after",
    ),
    Clash(
        Aspect.SAFETY,
        Aspect.CONVENIENCE,
        (3, 11, 15, 24),
        "ask only where something is at stake, and remember the answer",
    ),
    Clash(
        Aspect.FLEXIBILITY,
        Aspect.SIMPLICITY,
        (2, 6, 31, 35),
        "one good default, one opening where a second case exists",
    ),
    Clash(
        Aspect.RENEWAL,
        Aspect.COMPATIBILITY,
        (24, 17, 36, 34),
        "versions side by side, an adapter, and a date for the end",
    ),
    Clash(Aspect.TRACEABILITY, Aspect.PRIVACY, (2, 30, 26, 3), "record that it happened, not whom it was about"),
    Clash(Aspect.AUTONOMY, Aspect.CONTROL, (23, 11, 3, 16), "let rules decide the clear cases and people the others"),
    Clash(
        Aspect.THOROUGHNESS, Aspect.SPEED, (16, 1, 10, 27), "the dangerous cases always, the rest by sample or at night"
    ),
    Clash(Aspect.SAFETY, Aspect.SPEED, (30, 10, 5, 21), "check once at the boundary, and keep the result"),
    Clash(Aspect.FLEXIBILITY, Aspect.FRUGALITY, (6, 31, 2, 8), "use what is there, and leave an opening"),
)
SEPARATION: Final = (1, 3, 15, 17, 35)
"""For one thing that has to be and not to be: separate the two in space, in time, by condition, by scale."""
