"""Risks that a kind of work has, and the words that show that somebody has thought of them; data."""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Risk(NamedTuple):
    """A risk.

    Attributes:
        trigger: words of the work that has it.
        answer: words of work that deals with it.
        question: what to ask when nothing does.
        is_grave: what goes wrong cannot be taken back.
    """

    name: str
    trigger: re.Pattern[str]
    answer: re.Pattern[str]
    question: str
    is_grave: bool = False


def _risk(name: str, trigger: str, answer: str, question: str, *, is_grave: bool = False) -> Risk:
    return Risk(name, _compile(trigger), _compile(answer), question, is_grave)


def _compile(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)


RISKS: Final = (
    _risk(
        "data_loss",
        (
            r"migrat\w+|drop (?:the )?(?:table|column)|delete (?:all|the|old) \w+|truncate"
            r"|schema change|миграц\w+|удал\w+ данн\w+"
        ),
        r"backup\w*|back up|roll ?back|revers\w+|dry[- ]run|undo|copy first|бэкап\w*|резервн\w+|откат\w*",
        "How is the data got back when this goes wrong?",
        is_grave=True,
    ),
    _risk(
        "access",
        (
            r"(?:permission|role)s?|authori[sz]ation|access control|admin (?:page"
            r"|panel|api)|прав\w* доступа|авторизац\w+"
        ),
        r"test\w*|refus\w+|denied|403|401|unauthori[sz]ed|without permission|тест\w*|запрещ\w+|отказ\w*",
        "Which test shows that somebody without the right is refused?",
        is_grave=True,
    ),
    _risk(
        "money",
        r"payments?|refunds?|billing|currenc\w+|оплат\w+|платеж\w*|платёж\w*|возврат средств",
        r"round\w*|decimal|idempoten\w+|twice|currency|exact\w*|округл\w+|точн\w+|дважды|копе\w+",
        "What about rounding, and about the same payment twice?",
        is_grave=True,
    ),
    _risk(
        "compatibility",
        (
            r"public api|rename (?:the )?(?:field|endpoint|option|column)|change the (?:format"
            r"|api|protocol)|breaking change"
        ),
        r"compatib\w+|deprecat\w+|version\w*|old (?:clients|files|versions)|совместим\w*",
        "What becomes of those who use the old form?",
    ),
    _risk(
        "concurrency",
        r"concurren\w+|parallel\w*|threads?|multi-?process\w*|background jobs?|параллельн\w*|потоки|многопоточн\w*",
        r"locks?|races?|atomic\w*|transaction\w*|idempoten\w+|order|блокировк\w*|гонк\w*|атомарн\w*",
        "What happens when two of them do it at the same time?",
    ),
    _risk(
        "outside_world",
        r"external (?:api|service)|third[- ]party|webhooks?|http request\w*|download\w*|внешн\w+ (?:api|сервис\w*)",
        r"time-?outs?|retr(?:y|ies)|unavailable|offline|fallback|таймаут\w*|повтор\w*|недоступ\w*",
        "What happens when the other side is slow, away, or answers nonsense?",
    ),
    _risk(
        "input_size",
        r"upload\w*|import (?:a |the )?(?:csv|file|data)|parse (?:user|uploaded)|загрузк\w+ файл\w*|импорт файл\w*",
        r"limit\w*|max(?:imum)?|at most|large|size|лимит\w*|максим\w*|размер\w*",
        "How large may it be, and what happens beyond?",
    ),
    _risk(
        "measure",
        r"faster|speed(?: |-)?up|performance|optimi[sz]e\w*|ускор\w+|производительност\w*|оптимизир\w+",
        (
            r"\d+ ?(?:ms|s|seconds|milliseconds|%|mb|rps|x|мс|сек\w*)|benchmark\w*|profil\w+"
            r"|measure\w*|замер\w*|бенчмарк\w*"
        ),
        "Which number says that it is fast enough, and how is it measured?",
    ),
    _risk(
        "time_zones",
        r"time ?zones?|schedul\w+ (?:at|for)|calendar|часов\w+ пояс\w*|календар\w*|по расписанию",
        r"utc|dst|daylight|zone\w*|перевод\w* час\w*|пояс\w*",
        "In which time zone, and what on the day when the clocks change?",
    ),
)
_OVER_ENGINEERED: Final = (
    (
        "a framework for one case",
        (
            r"(?:generic|universal|own|custom) (?:framework|engine|dsl|orm)|(?:универсальн"
            r"|собственн)\w+ (?:фреймворк|движок)"
        ),
    ),
    ("a plugin system", r"plug-?in (?:system|architecture|framework)|систем\w+ плагинов"),
    ("services where a module would do", r"micro-?services?|service mesh|kubernetes operator|микросервис\w*"),
    (
        "for a future that nobody asked for",
        r"future[- ]proof\w*|just in case|for later use|might need|на будущее|на всякий случай",
    ),
    (
        "a setting for everything",
        r"(?:fully|completely) configurable|make everything configurable|полностью настраива\w+",
    ),
    ("events where a call would do", r"event[- ]sourcing|cqrs|message bus|enterprise service bus"),
    ("a rewrite", r"(?:complete|full) rewrite|rewrite (?:everything|from scratch)|переписать (?:всё|все|с нуля)"),
)
"""What it is → words."""
OVER_ENGINEERING: Final = tuple((name, _compile(words)) for name, words in _OVER_ENGINEERED)
